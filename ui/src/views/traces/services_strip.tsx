// The services seen in the range, with what they send; a click filters by one.
import type { JSX } from 'preact';
import { formatCount, formatShare } from '../../base/format';
import type { Service } from '../../model/trace';
import { serviceClass } from '../../widgets/waterfall_rows';

const rate = (perSecond: number): string =>
  perSecond >= 10
    ? `${formatCount(perSecond)}/s`
    : perSecond >= 0.1
      ? `${perSecond.toFixed(1)}/s`
      : `${(perSecond * 60).toFixed(1)}/min`;

interface ServicesStripProps {
  readonly services: readonly Service[];
  readonly chosen: string;
  readonly onChoose: (service: string) => void;
}

const profileNote = (service: Service): string => {
  if (service.samples === 0) return 'no profiles';
  if (service.spanLinked === 0) return 'profiles without span ids';
  return `${formatShare(service.spanLinked / service.samples)} of ${formatCount(service.samples)} samples linked`;
};

export const ServicesStrip = (props: ServicesStripProps): JSX.Element => (
  <ul class="services" aria-label="Services in this range">
    {props.services.map((service) => {
      const chosen = service.service === props.chosen;
      return (
        <li key={service.service}>
          <button
            type="button"
            class={`service${chosen ? ' chosen' : ''}`}
            aria-pressed={chosen}
            onClick={() => props.onChoose(chosen ? '' : service.service)}
          >
            <span class="service-name">
              <span class={`stripe ${serviceClass(service.service)}`} />
              {service.service}
            </span>
            <span class="service-facts">
              <span class="number">{rate(service.rate)}</span>
              {service.errors > 0 ? (
                <span class="number error-text">
                  {formatShare(service.errors / Math.max(1, service.spans))} errors
                </span>
              ) : null}
              <span class={service.spanLinked > 0 ? 'muted' : 'warn-text'}>
                {profileNote(service)}
              </span>
            </span>
          </button>
        </li>
      );
    })}
  </ul>
);
