"""Django REST framework after its tutorial: tokens, model serializers, generic views."""
