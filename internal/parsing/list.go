package parsing

import (
	"slices"
	"time"
)

// Scripts are provisions that an organization writes. Goja's parser takes time and memory that double with each arrow
// function in another.
var Scripts = Parser{
	Name: "script", Sender: Tenant, Bytes: 64 << 10, Turn: true,
	Files:  []string{"gateways/genieacs/script/..."},
	Bounds: "1,000 arrow functions and templates, 200 expressions in each other",
	Child:  Limits{CPU: 3 * time.Second, Memory: 256 << 20},
}

// Pictures are logos. A small file can say that it has many pixels, and repeat its scans.
var Pictures = Parser{
	Name: "picture", Sender: Tenant, Bytes: 1 << 20, Turn: true, Files: []string{"internal/paper/picture.go"},
	Bounds: "4 million pixels, sides of 5,000, 100 scans",
	Child:  Limits{CPU: 5 * time.Second, Memory: 256 << 20},
}

// Statements are tables of the provider that an organization uploads: CSV, whose cells take several times its memory.
var Statements = Parser{
	Name: "statement", Sender: Tenant, Bytes: 24 << 20, Turn: true,
	Files:  []string{"gateways/mobilemoney/statement.go", "gateways/mobilemoney/statement_table.go"},
	Bounds: "200,000 rows, lines of 16 KiB, 60 lines above the header",
}

// List has every parser of bytes from outside, and those of our own bytes whose code looks the same. All are linear in
// their input unless their bounds say more.
var List = slices.Concat([]Parser{Scripts, Pictures, Statements}, ofRequests, ofNetwork, ofSystems, ofOperator, ofOurs)

// ofRequests are parsers of what callers of the API send.
var ofRequests = []Parser{
	{
		Name: "request body", Sender: Anybody,
		Files: []string{
			"httpapi/decode.go", "httpapi/patch.go", "httpapi/amount.go", "httpapi/outages/compensations.go",
		},
		Bounds: "JSON; 1 MiB or the route's limit; depth of the struct; 10,000 items, numbers of " +
			"40 characters, 50 faults",
	},
	{
		Name: "payment page", Sender: Anybody, Bytes: 8 << 10, Files: []string{"httpapi/payments/page.go"},
		Bounds: "JSON or a form",
	},
	{
		Name: "headers", Sender: Anybody, Bytes: 32 << 10, Bounds: "of all headers; media types and If-Match",
		Files: []string{"httpapi/call.go"},
	},
	{
		Name: "cursor", Sender: Anybody, Files: []string{"httpapi/page.go"},
		Bounds: "within the headers; base64, opened with the program's key before it is JSON",
	},
	{
		Name: "access token", Sender: Anybody,
		Files:  []string{"httpapi/identity/proofs.go", "internal/apikeys/apikeys.go"},
		Bounds: "within the headers; JWT with one algorithm, hex of one length",
	},
	{
		Name: "address of a person", Sender: Tenant, Files: []string{"commands/identity_user.go"},
		Bounds: "within a body; net/mail of one address after its length was checked",
	},
	{
		Name: "table of customers", Sender: Tenant, Bytes: 64 << 20,
		Files:  []string{"internal/sheet/...", "usecases/subscribers/import_check.go"},
		Bounds: "200 columns, cells of 10,000 bytes; row by row, ends with the request; one large body a tenant",
	},
	{
		Name: "token of a speed test", Sender: Device, Files: []string{"usecases/cpe/uploads.go"},
		Bounds: "within the path; hex of one length. The values behind it are our own",
	},
	{
		Name: "firmware", Sender: Tenant, Files: []string{"httpapi/cpe/firmware.go", "usecases/cpe/firmware.go"},
		Bounds: "base64 in a body with a limit of its own; the file is not read",
	},
	{
		Name: "amounts", Sender: Anybody, Bytes: 40,
		Files:  []string{"internal/money/money.go", "events/billing_charge.go"},
		Bounds: "decimal digits and a point, no exponent",
	},
	{
		Name: "callback", Sender: Anybody, Bytes: 64 << 10,
		Files: []string{
			"jobs/payments/receiver.go", "jobs/payments/billmanager.go", "gateways/mobilemoney/callback.go",
		},
		Bounds: "JSON; texts of bounded length, numbers of 40 characters and exponents of 40",
	},
	{
		Name: "report of a message", Sender: Anybody, Bytes: 1 << 20,
		Files:  []string{"gateways/messagegateway/report.go"},
		Bounds: "JSON or a form, 64 KiB; 1 MiB after WhatsApp's signature was checked",
	},
}

// ofNetwork are parsers of what routers and devices send.
var ofNetwork = []Parser{
	{
		Name: "RADIUS packet", Sender: Anybody, Bytes: 4096,
		Files:  []string{"radius/packet.go", "radius/attributes.go"},
		Bounds: "attributes of 255 bytes; queues of bounded length",
	},
	{
		Name: "answer to a disconnect", Sender: Device, Bytes: 4096, Files: []string{"radius/coa/coa.go"},
		Bounds: "one packet for each that was sent",
	},
	{
		Name: "MAC address", Sender: Device, Bytes: 255, Files: []string{"radius/mac.go"},
		Bounds: "twelve digits of an attribute",
	},
	{
		Name: "RouterOS API", Sender: Device, Bytes: 32 << 20,
		Files:  []string{"gateways/routeros/api.go", "gateways/routeros/limited.go", "gateways/routeros/rest.go"},
		Bounds: "words of 1 MiB whose length is checked before there is memory for them; one call at a connection",
	},
	{
		Name: "values of a router", Sender: Device, Files: []string{"aggregates/network/routerplan/..."},
		Bounds: "within an answer; numbers of 64 bits",
	},
	{
		Name: "documents of devices", Sender: Device, Bytes: 1 << 20,
		Files: []string{
			"gateways/genieacs/document.go", "gateways/genieacs/exchange.go", "gateways/genieacs/install.go",
			"gateways/genieacs/tasks.go", "gateways/genieacs/transfers.go",
		},
		Bounds: "JSON of an answer; values of 4 KiB, numbers of 40 characters",
	},
	{
		Name: "answer of a terminal's manager", Sender: Device, Bytes: 64 << 10,
		Files:  []string{"gateways/olt/exchange.go"},
		Bounds: "JSON",
	},
}

// ofSystems are parsers of what the systems that we call answer.
var ofSystems = []Parser{
	{
		Name: "answers of the payment provider", Sender: Provider, Bytes: 64 << 10,
		Files: []string{
			"gateways/mobilemoney/billmanager.go", "gateways/mobilemoney/exchange.go",
			"gateways/mobilemoney/initiator.go", "gateways/mobilemoney/prompt.go", "gateways/mobilemoney/pull.go",
			"gateways/mobilemoney/query.go", "gateways/mobilemoney/register.go", "gateways/mobilemoney/result.go",
			"gateways/mobilemoney/token.go", "gateways/mobilemoney/wire.go",
		},
		Bounds: "JSON; lists of payments have a larger limit of their own; numbers of 40 characters",
	},
	{
		Name: "answers of message gateways", Sender: Provider, Bytes: 64 << 10,
		Files: []string{
			"gateways/messagegateway/sms.go", "gateways/messagegateway/sms_template.go",
			"gateways/messagegateway/whatsapp.go",
		},
		Bounds: "JSON. The template is the operator's",
	},
	{
		Name: "prices of messages", Sender: Provider, Files: []string{"httpapi/messaging/costs.go"},
		Bounds: "sums of the database, of prices with at most 18 digits",
	},
	{
		Name: "answers of the tax gateway", Sender: Provider, Bytes: 64 << 10,
		Files: []string{"gateways/taxgateway/exchange.go"}, Bounds: "JSON",
	},
	{
		Name: "event store protocol", Sender: Provider,
		Files: []string{
			"eventstore/embedded/auth.go", "eventstore/embedded/filter.go", "eventstore/embedded/streammeta.go",
			"eventstore/hotcodec/hotcodec.go",
		},
		Bounds: "frames of gRPC; expressions of 1,000 steps, prefixes of 16 KiB; clients of the node alone",
	},
}

// ofOperator are parsers of what the person who runs the program gives it.
var ofOperator = []Parser{{
	Name: "configuration", Sender: Operator,
	Files: []string{
		"cmd/lastmile/config_check.go", "cmd/lastmile/config_safety.go", "cmd/lastmile/node_guard.go",
		"cmd/lastmile/runtime_file.go", "cmd/lastmile/demo_client.go", "internal/secrets/keyring.go",
	},
	Bounds: "variables and files of the operator",
}}

// ofOurs are parsers of what this program wrote, most of it sealed with its keys, and of files that it brings along.
var ofOurs = []Parser{{
	Name: "own records", Sender: Ourselves,
	Files: []string{
		"aggregates/billing/account_opening.go", "aggregates/opening.go",
		"aggregates/subscribers/subscription_opening.go", "commands/bus/stored.go", "events/catalog/...",
		"gateways/webhooks/sign.go", "httpapi/fail.go", "httpapi/payments/reconciliations.go",
		"internal/paper/face.go", "internal/parsing/child.go", "internal/personal/personal.go",
		"internal/postgres/cluster_state.go", "internal/telemetry/spool_record.go", "internal/vault/...",
		"jobs/cpe/operations.go", "jobs/network/target.go", "jobs/payments/kept.go", "jobs/payments/provider.go",
		"jobs/payments/reconcile.go", "jobs/runner/...", "processmanagers/...", "projections/network/history.go",
		"usecases/payments/gateway.go", "usecases/payments/proof.go", "usecases/persons/traces.go",
		"usecases/subscribers/import_granted.go", "usecases/subscribers/import_run.go",
		"usecases/subscribers/proposal.go",
	},
	Bounds: "as large as the input that was taken",
}}
