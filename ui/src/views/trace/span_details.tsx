// What the span recorded about itself: attributes, events, links, resource.
import type { JSX } from 'preact';
import { formatDuration } from '../../base/format';
import { formatDateTime } from '../../base/time';
import type { Attributes, Span } from '../../model/trace';
import { tracePath } from '../../state/url';
import { CopyButton } from '../../widgets/copy_button';

const Pairs = ({ pairs, label }: { pairs: Attributes; label: string }): JSX.Element => (
  <table class="pairs" aria-label={label}>
    <tbody>
      {[...pairs].map(([key, value]) => (
        <tr key={key}>
          <th scope="row">{key}</th>
          <td>
            <code>{value}</code>
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);

interface FoldProps {
  readonly title: string;
  readonly count: number;
  readonly open?: boolean;
  readonly children: JSX.Element;
}

const Fold = ({ title, count, open, children }: FoldProps): JSX.Element | null =>
  count === 0 ? null : (
    <details class="fold" open={open === true}>
      <summary>
        {title} <span class="muted number">{count}</span>
      </summary>
      {children}
    </details>
  );

export const SpanDetails = ({ span }: { span: Span }): JSX.Element => (
  <section class="span-details" aria-label="Span details">
    <h3>Recorded on the span</h3>
    <p class="muted small">
      <span>{formatDateTime(span.startNs)}</span>
      {span.kind === '' ? null : <span>{` · ${span.kind}`}</span>}
      {span.scope === '' ? null : <span>{` · ${span.scope}`}</span>}
      {' · span '}
      <code>{span.id}</code>
      <CopyButton text={span.id} label="Copy span id" />
    </p>
    {span.statusMessage === '' ? null : <p class="error-text">{span.statusMessage}</p>}
    <Fold title="Attributes" count={span.attributes.size} open>
      <Pairs pairs={span.attributes} label="Attributes" />
    </Fold>
    <Fold title="Events" count={span.events.length} open={span.status === 'error'}>
      <ul class="plain">
        {span.events.map((event) => (
          <li key={`${event.offsetNs}/${event.name}`}>
            <span class="number muted">{formatDuration(event.offsetNs)}</span> {event.name}
            <Pairs pairs={event.attributes} label={`Attributes of ${event.name}`} />
          </li>
        ))}
      </ul>
    </Fold>
    <Fold title="Links" count={span.links.length}>
      <ul class="plain">
        {span.links.map((link) => (
          <li key={`${link.traceId}/${link.spanId}`}>
            <a class="mono" href={tracePath(link.traceId, link.spanId)}>
              {link.traceId}
            </a>
            <Pairs pairs={link.attributes} label="Attributes of the link" />
          </li>
        ))}
      </ul>
    </Fold>
    <Fold title="Resource" count={span.resource.size}>
      <Pairs pairs={span.resource} label="Resource" />
    </Fold>
  </section>
);
