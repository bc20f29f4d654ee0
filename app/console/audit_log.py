"""The audit log on pages: the list with its filters, and downloads."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from flask import Response
from markupsafe import Markup, escape
from marshmallow import Schema

from ..audit.schemas import EntryFilter, EntryPage, RecordRead, WorkspaceRecordRead
from ..audit.service import AuditLog
from ..core.context import service
from ..core.db.estimates import Estimate
from ..core.errors import Invalid
from ..core.types import JsonObject, Values
from ..core.web.paging import Slice
from ..core.web.replicas import reads_replica
from ..core.web.request_data import load_body
from ..core.web.responses import field_names
from . import csv_files
from .admin.filters import error_messages, filter_values
from .audit_filter import (
    PERIODS,
    TAGS,
    ActionGroup,
    Hit,
    action_groups,
    find_actions,
    load_filters,
    read_filters,
    with_hit,
)
from .audit_rows import CSV_NAMES, build_entry_rows, write_csv
from .links import link_to, redirect
from .page_globals import zone
from .texts import _

ROWS = 50


class EntryList(NamedTuple):
    """The audit log on a page, with the start of its endpoints."""

    at: str
    find: Callable[[str], Iterable[Hit]]
    # A page of a workspace: only its entries, without data of clients. The variables of its path.
    workspace_id: int | None = None
    path: Values = MappingProxyType({})
    areas: Collection[str] = ()

    @property
    def schema(self) -> type[Schema]:
        return RecordRead if self.workspace_id is None else WorkspaceRecordRead

    def link(self, end: str, filters: Values, **others: object) -> str:
        return link_to(f".{self.at}_{end}", **{**self.path, **filters, **others})

    @reads_replica
    def read(self, filters: EntryFilter.Input | None) -> tuple[Slice, Estimate | None]:
        if filters is None:
            return Slice([]), Estimate(0, "exactly")
        log, position = service(AuditLog), filter_values(("after", "before"))
        try:
            page: EntryPage.Input = load_body(EntryPage, {**position, "limit": ROWS})
            found = log.page(filters, page, self.schema)
        except Invalid:
            # An invalid position means the first page.
            found = log.page(filters, {"limit": ROWS}, self.schema)
        if found.before or found.after:
            return found, log.count(filters, self.schema)
        return found, Estimate(len(found.rows), "exactly")

    def show(self, render: Callable[..., Response]) -> Response:
        """Return the page, or the redirect to the only result of a search."""
        filters, groups = read_filters(), action_groups(self.areas)
        search = filter_values(("search",)).get("search", "")
        hits = [*self.find(search), *find_actions(search, groups)] if search else []
        if len(hits) == 1:
            return redirect(self.link("page", with_hit(filters, hits[0])))
        found, total, errors = Slice([]), None, list[Any]()
        try:
            if not search:
                found, total = self.read(load_filters(filters, self.workspace_id))
        except Invalid as problem:
            errors = [*error_messages(problem)]
        swapped = {"account": filters.get("actor"), "actor": filters.get("account")}
        rows = build_entry_rows(found.rows)
        return render(
            status=422 if errors else 200,
            rows=rows,
            total=total,
            errors=errors,
            filters=filters,
            search=search,
            hits=[(hit, self.link("page", with_hit(filters, hit))) for hit in hits],
            chips=[*self._chips(filters, groups, (rows or [{}])[0])],
            groups=groups,
            periods=[("", _("Any time")), *((days, _(title)) for days, title in PERIODS.items())],
            is_utc=zone() is None,
            page_url=self.link("page", {}),
            swap_url=self.link("page", {**filters, **swapped}),
            first_url=self.link("page", filters) if found.before else "",
            previous_url=self.link("page", filters, before=found.before) if found.before else "",
            next_url=self.link("page", filters, after=found.after) if found.after else "",
            csv_url=self.link("csv", filters),
            lines_url=self.link("file", filters),
        )

    def _chips(
        self, filters: JsonObject, groups: Sequence[ActionGroup], row: Values
    ) -> Iterator[tuple[Markup, str]]:
        """Yield what the list is filtered by, with the link without this filter."""
        for name, label in TAGS.items():
            if value := filters.get(name):
                text = row.get(name) or (value if "@" in value else f"#{value}")
                yield _(label, who=text), self.link("page", {**filters, name: None})
        titles = {value: title for group in groups for value, title in group.options}
        for value in (kinds := filters.get("type", [])):
            others = [each for each in kinds if each != value]
            yield titles.get(value, escape(value)), self.link("page", {**filters, "type": others})

    def download(self, name: str) -> Response:
        """Return the matching entries as a file, the oldest first.

        The end of the name is the format: `.csv` or `.jsonl`.
        """
        given = read_filters()
        try:
            filters = load_filters(given, self.workspace_id)
            csv_files.release_connection()
            options: Any = {"write": write_csv} if csv_files.is_csv_name(name) else {}
            log = service(AuditLog)
            lines = log.export(filters, self.schema, **options) if filters else iter(())
        except Invalid:
            # The page shows the errors of the filters.
            return redirect(self.link("page", given))
        columns = dict.fromkeys((*CSV_NAMES, *field_names(self.schema)))
        return csv_files.download(name, lines, columns)
