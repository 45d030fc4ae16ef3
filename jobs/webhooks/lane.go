package webhooksjobs

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/webhooks"
)

// How many deliveries are under way at once. An endpoint that hangs takes its own seats alone. Those in trouble, whose
// last attempt failed or was slow, have half of all together, so that the others find seats however many hang.
const (
	seatsOfAll      = 256
	seatsOfTroubled = seatsOfAll / 2
	seatsOfOrg      = 32
	seatsOfEndpoint = 8
	seatsInTrouble  = 2               // of an endpoint in trouble
	slow            = 2 * time.Second // an attempt that took longer
)

// An endpoint is disabled when every attempt of so long a time failed, of so many deliveries at least.
const (
	failsFor  = 72 * time.Hour
	failsMany = 20
)

// waits are the pauses after an attempt that failed, each once (docs/rules/webhooks.md#delivery).
var waits = []time.Duration{30 * time.Second, 2 * time.Minute, 10 * time.Minute, time.Hour, 6 * time.Hour}

// lane is one endpoint as the pump sees it.
type lane struct {
	row       webhooksviews.EndpointRow
	running   int
	ready     bool // something may be due
	troubled  bool
	health    health // since is zero while nothing fails
	disabling bool   // that it fails is being reported
}

// enabled reports whether the endpoint gets what happens.
func (l *lane) enabled() bool { return l.row.State == webhooksviews.Enabled }

// seats is how many deliveries of the endpoint may be under way.
func (l *lane) seats() int {
	if l.troubled {
		return seatsInTrouble
	}
	return seatsOfEndpoint
}

// lanes share the seats among the endpoints. Only the goroutine of the pump uses them.
type lanes struct {
	of      map[id.Webhook]*lane
	order   []id.Webhook
	turn    int // which one is first in the next round
	ofOrg   map[id.Organization]int
	all     int
	trouble int // seats that endpoints in trouble have
}

// newLanes makes lanes without endpoints.
func newLanes() *lanes { return &lanes{of: map[id.Webhook]*lane{}, ofOrg: map[id.Organization]int{}} }

// adopt takes the endpoints that there are. It reports whether one was disabled or removed since the last time. Of an
// endpoint that is gone the deliveries under way end as they end.
func (l *lanes) adopt(rows []webhooksviews.EndpointRow) (ends bool) {
	there := make(map[id.Webhook]bool, len(rows))
	l.order = l.order[:0]
	for _, row := range rows {
		there[row.ID] = true
		l.order = append(l.order, row.ID)
		known, ok := l.of[row.ID]
		if !ok {
			known = &lane{ready: true}
			l.of[row.ID] = known
		}
		if !ok || known.row.State != row.State || known.row.EnabledPosition != row.EnabledPosition {
			ends = ends || row.State != webhooksviews.Enabled
			known.disabling, known.ready = false, true
		}
		if known.health.enabled != row.EnabledPosition { // failures of before say nothing
			known.health = health{webhook: row.ID, org: row.OrgID, enabled: row.EnabledPosition}
		}
		known.row = row
	}
	for which, known := range l.of {
		if !there[which] {
			ends = ends || known.row.State != gone
			if known.row.State = gone; known.running == 0 {
				delete(l.of, which)
			}
		}
	}
	return ends
}

// gone is the state of an endpoint that was removed while deliveries were under way.
const gone = "removed"

// rooms shares the free seats: each endpoint that may have something due gets what it may have, as long as there are
// seats. The one that is first changes with each round.
func (l *lanes) rooms() (list []room) {
	free, freeTrouble := seatsOfAll-l.all, seatsOfTroubled-l.trouble
	ofOrg := map[id.Organization]int{}
	if len(l.order) > 0 {
		l.turn = (l.turn + 1) % len(l.order)
	}
	for i := range l.order {
		one := l.of[l.order[(l.turn+i)%len(l.order)]]
		if !one.ready {
			continue
		}
		org := one.row.OrgID
		n := min(one.seats()-one.running, free, seatsOfOrg-l.ofOrg[org]-ofOrg[org])
		if one.troubled {
			n = min(n, freeTrouble)
		}
		if n <= 0 {
			continue
		}
		free, ofOrg[org] = free-n, ofOrg[org]+n
		if one.troubled {
			freeTrouble -= n
		}
		list = append(list, room{webhook: one.row.ID, seats: n, pings: !one.enabled()})
	}
	return list
}

// began counts deliveries that are under way from now on. An endpoint that had fewer than there was room for has
// nothing more that is due.
func (l *lanes) began(rooms []room, list []claimed) {
	n := map[id.Webhook]int{}
	for _, d := range list {
		n[d.WebhookID]++
	}
	for _, r := range rooms {
		one, count := l.of[r.webhook], n[r.webhook]
		if count < r.seats {
			one.ready = false
		}
		one.running += count
		l.all += count
		l.ofOrg[one.row.OrgID] += count
		if one.troubled {
			l.trouble += count
		}
	}
}

// ended counts one delivery less, and judges the endpoint by it.
func (l *lanes) ended(d claimed, well bool) {
	l.all--
	if l.ofOrg[d.OrgID]--; l.ofOrg[d.OrgID] == 0 {
		delete(l.ofOrg, d.OrgID)
	}
	one := l.of[d.WebhookID]
	if one.troubled {
		l.trouble--
	}
	one.running--
	switch {
	case one.troubled && well:
		l.trouble -= one.running
	case !one.troubled && !well:
		l.trouble += one.running
	}
	one.troubled, one.ready = !well, true
	if one.row.State == gone && one.running == 0 {
		delete(l.of, d.WebhookID)
	}
}
