import type { InboxItem } from "./api";
import { Alert } from "./Form";
import { useAction, useInbox } from "./hooks";
import { useSession } from "./session";
import { describe } from "./texts";

const TIME = new Intl.DateTimeFormat(undefined, {
  dateStyle: "medium",
  timeStyle: "short",
});

// [inbox]
export function Inbox() {
  const { items, unread, problem, reload } = useInbox();
  return (
    <section aria-labelledby="inbox">
      <h2 id="inbox">Inbox</h2>
      <p role="status">{unread !== undefined && `${unread} unread`}</p>
      {problem && <Alert>{describe(problem)}</Alert>}
      <ul>
        {items?.map((item) => (
          <Item key={item.id} item={item} reload={reload} />
        ))}
      </ul>
      {items?.length === 0 && <p>No notifications yet.</p>}
    </section>
  );
}

interface ItemProps {
  item: InboxItem;
  reload: () => void;
}

function Item({ item, reload }: ItemProps) {
  const { call } = useSession();
  // Each item has its own link, which is right wherever the inbox is mounted.
  const { problem, isPending, run } = useAction(async () => {
    await call(`${item.links.mark}?status=${!item.is_read}`, { method: "PATCH" });
    reload();
  });
  const title = `title-${item.id}`;

  return (
    <li className={item.is_read ? undefined : "unread"}>
      <h3 id={title}>{item.title}</h3>
      <p>{item.message}</p>
      <time dateTime={item.created_at}>
        {TIME.format(new Date(item.created_at))}
      </time>
      <button
        className="link"
        aria-describedby={title}
        aria-disabled={isPending}
        onClick={run}
      >
        {item.is_read ? "Mark as unread" : "Mark as read"}
      </button>
      {problem && <Alert>{describe(problem)}</Alert>}
    </li>
  );
}
// [end]
