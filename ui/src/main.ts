import { mount } from 'svelte';

import App from './App.svelte';
import './app.css';
import { chooseBackend, useBackend } from './backend';

useBackend(await chooseBackend());
const target = document.getElementById('app');
if (!target) throw new Error('the page has no place for the app');
mount(App, { target });
