// A device that says BOOTSTRAP is new, or has lost its settings: what the server remembers of its tree is stale.
clear("Device", Date.now());
clear("InternetGatewayDevice", Date.now());

