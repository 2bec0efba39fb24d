// Ranked findings: what to fix, what it saves, where, and the evidence behind each.
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import { formatDuration, formatDurationInterval } from '../../base/format';
import { placeOf } from '../../logic/flame/node_facts';
import type { Finding } from '../../model/explanation';
import { Icon } from '../../widgets/icons';

const Saves = ({ finding }: { finding: Finding }): JSX.Element | null =>
  finding.savesNs > 0 ? (
    <span class="finding-saves number">
      saves <b>{formatDuration(finding.savesNs)}</b>
      {finding.savesHighNs > finding.savesLowNs ? (
        <span class="muted">
          {' '}
          {formatDurationInterval(finding.savesLowNs, finding.savesHighNs)}
        </span>
      ) : null}
    </span>
  ) : null;

interface CardProps {
  readonly finding: Finding;
  readonly first: boolean;
  readonly onFind: (name: string) => void;
}

const More = ({ finding, id }: { finding: Finding; id: string }): JSX.Element => (
  <div id={id} class="finding-more">
    {finding.fix === '' ? null : <p class="finding-fix">{finding.fix}</p>}
    {finding.evidence.length === 0 ? null : (
      <ul class="evidence">
        {finding.evidence.map((item) => (
          <li key={item.text}>
            {item.text}{' '}
            {item.query.startsWith('/api/') ? (
              <a href={item.query} target="_blank" rel="noreferrer">
                recompute
              </a>
            ) : null}
          </li>
        ))}
      </ul>
    )}
  </div>
);

const Card = ({ finding, first, onFind }: CardProps): JSX.Element => {
  const id = useId();
  const open = useSignal(first);
  const place = placeOf(finding.file, finding.line, false);
  return (
    <li class={`finding ${finding.severity}`} data-testid="finding" data-kind={finding.kind}>
      <div class="finding-head">
        <span class="finding-title">{finding.title}</span>
        <Saves finding={finding} />
      </div>
      <div class="finding-place">
        {finding.function === '' ? null : (
          <button
            type="button"
            class="link mono"
            title="Highlight in the flame graph"
            onClick={() => onFind(finding.function)}
          >
            {finding.function}
          </button>
        )}
        {place === '' ? null : <code class="muted">{place}</code>}
        {finding.pooled ? (
          <span
            class="badge"
            title="One span has too few samples; this rests on all spans of the operation"
          >
            pooled
            <span class="hidden"> over all spans of the operation</span>
          </span>
        ) : null}
        <button
          type="button"
          class="button quiet finding-toggle"
          aria-expanded={open.value}
          aria-controls={id}
          aria-label={`Fix and evidence: ${finding.title}`}
          onClick={() => {
            open.value = !open.value;
          }}
        >
          <span>Fix and evidence</span>
          <Icon name={open.value ? 'down' : 'right'} />
        </button>
      </div>
      {open.value ? <More finding={finding} id={id} /> : null}
    </li>
  );
};

interface FindingsProps {
  readonly findings: readonly Finding[];
  readonly onFind: (name: string) => void;
}

export const Findings = ({ findings, onFind }: FindingsProps): JSX.Element | null =>
  findings.length === 0 ? null : (
    <section aria-label="Findings">
      <h3>Findings</h3>
      <ol class="findings">
        {findings.map((finding, index) => (
          <Card
            key={`${finding.kind}/${finding.title}`}
            finding={finding}
            first={index === 0}
            onFind={onFind}
          />
        ))}
      </ol>
    </section>
  );
