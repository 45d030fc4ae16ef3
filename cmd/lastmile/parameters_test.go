package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/httpapi"
)

// parametersOf lists the addresses that take more query parameters than the limit and cursor of a list. Every other
// parameter, and every one at another address, is refused with unknown_parameter, so that a name which disappears from
// this list takes a filter away from whoever uses it.
var parametersOf = map[string][]string{
	"GET /access-differences": {"deviceId", "subscriberId", "kind"},
	"GET /audit-log":          {"actor", "action", "target", "outcome", "from", "to"},
	"GET /billing/preview":    {"date"}, "GET /billing/preview/invoices": {"date"}, "GET /billing/runs": {"state"},
	"GET /cpe/devices": {
		"q", "subscriberId", "online", "stale", "model", "firmwareVersion",
	},
	"GET /cpe/faults":                               {"deviceId"},
	"GET /cpe/firmware/campaigns/:id/devices":       {"state"},
	"GET /cpe/pending":                              {"serial"},
	"GET /dev/messages":                             {"to"},
	"GET /docs":                                     {"q"},
	"GET /dunning":                                  {"state", "subscriberId", "hold"},
	"GET /events/stream":                            {"lastEventId", "expectedUser"},
	"GET /failed-callbacks on the root host":        {"verified"},
	"GET /history/:type/:id":                        {"after", "order"},
	"GET /history/:type/:id on the root host":       {"after", "order"},
	"GET /history/:type/:id/diff":                   {"from", "to"},
	"GET /history/:type/:id/diff on the root host":  {"from", "to"},
	"GET /history/:type/:id/state":                  {"at"},
	"GET /history/:type/:id/state on the root host": {"at"},
	"GET /invoices":                                 {"subscriberId", "state", "number", "overdue"},
	"GET /messages": {
		"channel", "state", "subscriberId", "outageId", "template", "from", "to",
	},
	"GET /nas/devices":  {"upToDate"},
	"GET /nas/fleet":    {"state", "reachable", "drift"},
	"GET /nas/services": {"deviceId", "state", "drift"},
	"GET /outbox":       {"after"}, "GET /webhook-deliveries": {"endpointId", "state"},
	"GET /bill-manager/invoices": {"state"},
	"GET /batches":               {"kind"}, "GET /batches/:id/items": {"outcome"},
	"GET /compensations": {"outageId", "state", "failed", "from", "to"}, "GET /compensations/:id/items": {"gets"},
	"GET /support-requests": {"state", "assigneeId", "unassigned", "subscriberId"},
	"GET /outages":          {"state", "deviceId", "from", "to"}, "GET /status": {"lang"},
	"GET /pay":      {"account", "lang"},
	"GET /payments": {"subscriberId", "status", "receiptNumber", "from", "to"},
	"GET /plans":    {"archived"},
	"GET /receipts": {
		"state", "subscriberId", "receiptNumber", "unclaimed", "channel", "takenBy", "sort", "from", "to",
	},
	"GET /approvals":                 {"state", "subscriberId"},
	"GET /reports/corrections":       {"from", "to"},
	"GET /refunds":                   {"state", "open", "subscriberId", "receiptId"},
	"GET /receipts on the root host": {"state", "receiptNumber", "sort"},
	"GET /reports/ageing":            {"format"},
	"GET /reports/ageing/customers":  {"bucket"},
	"GET /reports/changes":           {"kind", "from", "to"},
	"GET /reports/churn":             {"from", "to", "format"},
	"GET /reports/collections":       {"from", "to", "format"},
	"GET /reports/revenue":           {"from", "to", "format"},
	"GET /reports/today":             {"since"},
	"GET /search":                    {"q", "limit"},
	"GET /tax-documents":             {"state", "subscriberId", "invoiceId", "late"},
	"GET /search on the root host":   {"q", "limit"},
	"GET /sessions":                  {"subscriberId", "deviceId", "username", "online", "access", "ip", "at"},
	"GET /subscribers": {
		"q", "status", "tag", "access", "online", "offBehind", "planId", "state", "owes", "paidBefore", "paidAfter",
		"sort",
	},
	"GET /subscribers/:id/access":        {"at"},
	"GET /subscribers/:id/days":          {"from", "to"},
	"GET /subscribers/:id/statement/pdf": {"from", "to"},
	"GET /subscribers/:id/timeline":      {"type", "from", "to"},
	"GET /subscribers/:id/usage":         {"from", "to", "step"},
	"GET /subscriptions":                 {"subscriberId", "state"},
	"GET /voucher-batches":               {"planId"},
	"GET /vouchers":                      {"state", "batchId", "planId"},
	"PATCH /nas/services/:id":            {"confirm"},
	"DELETE /nas/services/:id":           {"confirm", "abandon"},
	"POST /imports/subscribers": {
		"dryRun", "source", "proposal", "columns", "dateOrder", "encoding", "unpaid",
	},
	"POST /reconciliations":                  {"dateOrder"},
	"POST /reconciliations on the root host": {"dateOrder"},
	"POST /nas/devices/:id/setup/reconcile":  {"confirm"},
	"POST /pay":                              {"lang"},
	"POST /sessions/:id/disconnect":          {"confirm"},
	"GET /audit-log on the root host":        {"actor", "action", "target", "outcome", "from", "to", "orgId"},
	"GET /orgs on the root host":             {"status", "q"},
	"GET /users":                             {"role", "status", "q"},

	"GET /reports/collections/receipts":                    {"from", "to", "channel", "takenBy", "side"},
	"GET /reports/messages":                                {"from", "to"},
	"GET /reports/messages/organizations on the root host": {"from", "to"},

	"GET /reports/settlement":                           {"date", "to", "format"},
	"GET /reports/settlement on the root host":          {"date", "to", "format"},
	"GET /reports/settlement/receipts":                  {"date", "to"},
	"GET /reports/settlement/receipts on the root host": {"date", "to", "orgId"},
}

func TestEveryEndpoint_TakesTheseParameters(t *testing.T) {
	t.Parallel()
	k := newKit(t).start()
	server, ok := (*k.app.door.inside.Load()).(*httpapi.Server)
	if !ok {
		t.Fatal("the door leads elsewhere")
	}
	got := map[string][]string{}
	for _, r := range server.Routes() {
		name := r.Method + " " + r.Path
		if r.Hosts == httpapi.OnRoot {
			name += " on the root host"
		}
		names := r.Parameters()
		if n := len(names); r.Row != nil {
			if n < 2 || names[n-2] != "limit" || names[n-1] != "cursor" {
				t.Errorf("the list %s takes %v", name, names)
			}
			names = names[:n-2]
		}
		if len(names) > 0 {
			got[name] = names
		}
	}
	if diff := cmp.Diff(parametersOf, got); diff != "" {
		t.Errorf("parameters (-want +got):\n%s", diff)
	}
}
