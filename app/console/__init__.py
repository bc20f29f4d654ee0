"""The console: pages for visitors, account owners and admins."""
