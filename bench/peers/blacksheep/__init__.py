"""The minimal work without a framework's features, asynchronous."""
