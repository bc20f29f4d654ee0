preload_app = True
