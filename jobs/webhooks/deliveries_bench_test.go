package webhooksjobs_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/gateways/webhooks"
	"github.com/lastmile-isp/lastmile/internal/benchtest"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/egress"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Numbers of the benchmark: organizations, each with ten endpoints of which in the second part one is slow and one is
// dead; invoices a second of all together; and how many times as long a healthy endpoint may wait for its messages
// beside them.
const (
	benchOrgs     = 10
	benchPace     = 40
	benchSlow     = 3 * time.Second
	worstSlowdown = 2.0
)

// town has the systems of many organizations behind one listener.
type town struct {
	*kit
	orgs []id.Organization
	mu   sync.Mutex
	sent map[string]time.Time // by the number of the invoice
	took []time.Duration      // until a healthy endpoint had a message
	got  int                  // messages that healthy endpoints have
}

// newTown makes the organizations and their endpoints; with sick a tenth of them is slow and a tenth dead.
func newTown(b *testing.B, sick bool) *town {
	b.Helper()
	n := &town{kit: newKit(b), sent: map[string]time.Time{}}
	over := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case strings.HasPrefix(r.URL.Path, "/dead"):
			<-over
		case strings.HasPrefix(r.URL.Path, "/slow"):
			select {
			case <-time.After(benchSlow):
			case <-over:
			}
		default:
			n.heard(body)
		}
	}))
	client := webhooks.New(webhooks.Config{Addresses: egress.Guard{Development: true}})
	b.Cleanup(func() {
		n.deliverer.Stop()
		close(over)
		s.Close()
		client.Close()
	})
	n.gateway = client
	n.deliverer = n.another()
	for range benchOrgs {
		org := id.New[id.Organization]()
		n.orgs = append(n.orgs, org)
		for i := range commands.WebhooksPerOrganization {
			kind := "well"
			if sick && i < 2 {
				kind = []string{"dead", "slow"}[i]
			}
			hook, _ := n.register(org, fmt.Sprint(kind, i))
			n.Run(b, coretest.Operator(org), commands.AmendWebhook{WebhookID: hook, Settings: commands.WebhookSettings{
				URL: fmt.Sprintf("%s/%s/%s", s.URL, kind, hook), Types: []string{events.OutboxInvoiceCreated},
			}})
		}
	}
	coretest.Start(b, "deliverer", n.deliverer)
	return n
}

// heard notes a message that a healthy endpoint got.
func (n *town) heard(body []byte) {
	var m struct {
		Data struct {
			Number string `json:"number"`
		} `json:"data"`
	}
	if json.Unmarshal(body, &m) != nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.got++
	if at, ok := n.sent[m.Data.Number]; ok {
		n.took = append(n.took, time.Since(at))
	}
}

// issue records invoices of an organization now.
func (n *town) issue(org id.Organization, count int) {
	n.mu.Lock()
	for i := range count {
		n.sent[fmt.Sprint("ACME-", n.invoices+1+i)] = time.Now()
	}
	n.mu.Unlock()
	n.invoice(org, count)
}

// await waits until healthy endpoints have so many messages.
func (n *town) await(b *testing.B, count int) {
	b.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		n.mu.Lock()
		got := n.got
		n.mu.Unlock()
		if got >= count {
			return
		}
		if time.Now().After(end) {
			b.Fatalf("%d of %d messages came", got, count)
		}
	}
}

// paced issues invoices at an even pace and gives how long each message took to a healthy endpoint.
func (n *town) paced(b *testing.B, healthy int) []time.Duration {
	b.Helper()
	count := benchPace * int(2*benchtest.Turn(b)/time.Second)
	tick := time.NewTicker(time.Second / benchPace)
	defer tick.Stop()
	for i := range count {
		n.issue(n.orgs[i%benchOrgs], 1)
		<-tick.C
	}
	n.await(b, count*healthy)
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.took
}

// BenchmarkDeliveries measures how many deliveries a second go out when much happens at once, and how much longer a
// message takes to a healthy endpoint when a tenth of all endpoints are slow and a tenth never answer.
func BenchmarkDeliveries(b *testing.B) {
	well := newTown(b, false)
	alone := well.paced(b, commands.WebhooksPerOrganization)
	well.mu.Lock()
	before := well.got
	well.mu.Unlock()
	burst := benchtest.Size(b, "DELIVERIES", 5000) / benchOrgs / commands.WebhooksPerOrganization
	began := time.Now()
	for _, org := range well.orgs {
		well.invoice(org, burst)
	}
	well.await(b, before+burst*benchOrgs*commands.WebhooksPerOrganization)
	rate := float64(burst*benchOrgs*commands.WebhooksPerOrganization) / time.Since(began).Seconds()
	well.deliverer.Stop()
	sick := newTown(b, true)
	beside := sick.paced(b, commands.WebhooksPerOrganization-2)
	benchtest.Latencies(b, "alone", alone, 0)
	benchtest.Latencies(b, "beside", beside, 0)
	b.ReportMetric(rate, "deliveries/s")
	benchtest.ReportTime(b, "p99", benchtest.Quantile(beside, 99), benchtest.Quantile(alone, 99), 1/worstSlowdown)
}
