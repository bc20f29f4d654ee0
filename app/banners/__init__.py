"""Banners: lines above every page, for maintenance and news."""
