"""A local page in the browser on bundles and stores: what was claimed, swept and learnt.

The explorer reads; it writes nothing, imports nothing that a store or a bundle names, and needs
neither JAX nor a network. `server` starts it, `app` lists its routes.
"""

from elegans.explorer.server import Explorer as Explorer
from elegans.explorer.server import explore as explore
