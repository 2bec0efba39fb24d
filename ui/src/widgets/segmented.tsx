// One of a few: radio buttons that look like one control, so that arrows work as everywhere.
import type { JSX } from 'preact';
import { useId } from 'preact/hooks';

export interface Option<T extends string> {
  readonly value: T;
  readonly label: string;
  readonly title?: string;
  readonly disabled?: boolean;
}

interface SegmentedProps<T extends string> {
  readonly legend: string;
  readonly options: readonly Option<T>[];
  readonly value: T | undefined;
  readonly onChange: (value: T) => void;
}

export const Segmented = <T extends string>(props: SegmentedProps<T>): JSX.Element => {
  const name = useId();
  return (
    <fieldset class="segmented">
      <legend class="hidden">{props.legend}</legend>
      {props.options.map((option) => (
        <label key={option.value} title={option.title}>
          <input
            type="radio"
            name={name}
            value={option.value}
            checked={option.value === props.value}
            disabled={option.disabled === true}
            onChange={() => props.onChange(option.value)}
          />
          <span>{option.label}</span>
        </label>
      ))}
    </fieldset>
  );
};
