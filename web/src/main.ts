// Adds to a page that is whole without it: marks of one site light up together, icicles zoom, tables sort, sliders compute.

import * as icicle from "./icicle";
import * as link from "./link";
import * as places from "./places";
import * as sizes from "./sizes";
import * as tables from "./tables";
import * as timeline from "./timeline";
import * as whatif from "./whatif";

link.start();
icicle.start();
tables.start();
sizes.start();
timeline.start();
places.start();
whatif.start().catch((error: unknown) => {
  const line = document.querySelector("#sliders .answer");
  if (line) line.textContent = `What-if does not work here: ${error instanceof Error ? error.message : String(error)}.`;
  console.error(error);
});
