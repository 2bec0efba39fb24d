// The page of an empty installation: how to send the first span, ready to copy.
import type { JSX } from 'preact';
import { CopyButton } from '../../widgets/copy_button';
import { Notice } from '../../widgets/notice';

interface Recipe {
  readonly title: string;
  readonly text: string;
}

const recipes = (origin: string): readonly Recipe[] => [
  {
    title: 'Any OpenTelemetry SDK (environment)',
    text: `export OTEL_EXPORTER_OTLP_ENDPOINT=${origin}
export OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf
export OTEL_SERVICE_NAME=my-service`,
  },
  {
    title: 'OpenTelemetry Collector',
    text: `exporters:
  otlphttp/hotspan:
    endpoint: ${origin}
service:
  pipelines:
    traces:
      exporters: [otlphttp/hotspan]`,
  },
  {
    title: 'Profiles: pprof or folded stacks',
    text: `curl --data-binary @cpu.pprof \\
  '${origin}/ingest?name=my-service&format=pprof'`,
  },
];

export const Onboarding = ({ onReload }: { onReload: () => void }): JSX.Element => (
  <div class="onboarding" data-testid="onboarding">
    <Notice kind="empty" title="Waiting for the first span">
      <p>
        Nothing has been received yet. Point a program or a collector at this server; it takes OTLP
        over HTTP and gRPC on the port of this page.
      </p>
      <button type="button" class="button" onClick={onReload}>
        Look again
      </button>
    </Notice>
    {recipes(window.location.origin).map((recipe) => (
      <section key={recipe.title} class="recipe">
        <div class="recipe-head">
          <h2>{recipe.title}</h2>
          <CopyButton text={recipe.text} label={`Copy: ${recipe.title}`} caption="Copy" />
        </div>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable block needs the keyboard */}
        <pre tabIndex={0}>{recipe.text}</pre>
      </section>
    ))}
  </div>
);
