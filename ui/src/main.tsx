// Mounts the page.
import { render } from 'preact';
import '@preact/signals';
import './theme/tokens.css';
import './theme/base.css';
import './theme/widgets.css';
import './theme/pages.css';
import * as route from './state/route';
import { watchTheme } from './theme/tokens';
import { App } from './views/shell/app';

const root = document.getElementById('app');
if (root) {
  watchTheme();
  route.start();
  render(<App />, root);
}
