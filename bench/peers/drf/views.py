"""Two generic views. A page is a slice of the query, because the response needs no count."""
# mypy: disable-error-code="import-not-found, import-untyped"
# mypy: allow-subclassing-any, allow-untyped-calls

from typing import Any

from django.urls import path
from rest_framework import generics

from bench.peers.drf.models import InboxItem
from bench.peers.drf.serializers import AccountRead, InboxItemRead


class AccountView(generics.RetrieveAPIView):
    serializer_class = AccountRead

    def get_object(self) -> Any:
        return self.request.user


class InboxView(generics.ListAPIView):
    serializer_class = InboxItemRead

    def get_queryset(self) -> Any:
        offset = int(self.request.query_params.get("offset", 0))
        limit = int(self.request.query_params.get("limit", 100))
        items = InboxItem.objects.filter(receiver=self.request.user)
        return items.select_related("notification").order_by("-id")[offset : offset + limit]


urlpatterns = [path("account", AccountView.as_view()), path("inbox", InboxView.as_view())]
