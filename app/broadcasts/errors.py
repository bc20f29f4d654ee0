from ..core.errors import NotFound


class SegmentNotFound(NotFound):
    code = "segment_not_found"
    detail = "Segment not found"
    title = "The segment does not exist"
    cause = "No saved segment has this id: another administrator may have deleted it."
    fix = "Choose another segment."


class DraftNotFound(NotFound):
    code = "draft_not_found"
    detail = "Draft not found"
    title = "The draft does not exist"
    cause = "The caller has no draft of a broadcast with this id."
    fix = "Open a draft in the list of broadcasts."
