"""Invitations: nobody is in a workspace before they have said yes."""
