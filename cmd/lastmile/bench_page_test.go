package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/lastmile-isp/lastmile/internal/benchtest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// pageSize is the number of rows on the measured page.
const pageSize = 25

// BenchmarkSubscribersPage measures pages a second, of 25 of 100,000 subscribers, over a real listener, through
// sign-in, tenant, rate limit, row-level security, log and metrics. The limit is a bare handler that runs the same
// indexed query and writes the same JSON. Aim 0.7.
func BenchmarkSubscribersPage(b *testing.B) {
	k := newBenchKit(b)
	org := k.must(k.root, "GET", "/orgs", nil).list("data")[0].text("id")
	k.fillSubscribers(b, org, benchtest.Size(b, "ROWS", 100_000))
	pool, err := pgxpool.New(b.Context(), string(k.config().DatabaseURL)+poolSize(string(k.config().DatabaseURL)))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(pool.Close)
	bare := httptest.NewServer(barePage(pool, k.app.engines.views.SQL(subscribersviews.SubscribersName, bareSQL), org))
	b.Cleanup(bare.Close)

	page := request(http.MethodGet, "/subscribers?limit=25", k.admin, "")
	served, plain := dialMany(b, k.addr, benchReaders), dialMany(b, bare.Listener.Addr().String(), benchReaders)
	samePage(b, served[0], plain[0], page)
	rate := func(lines []*line) func() float64 {
		return func() float64 {
			return benchtest.Rate(b, benchReaders,
				func(_ context.Context, caller int) error { return lines[caller].expect(http.StatusOK, page) })
		}
	}
	for b.Loop() {
		benchtest.Compare(b, "pages/s", 0.7, rate(served), rate(plain))
	}
}

// poolSize gives the bare handler as many connections as the service has.
func poolSize(url string) string {
	if strings.Contains(url, "?") {
		return "&pool_max_conns=24"
	}
	return "?pool_max_conns=24"
}

// fillSubscribers writes rows into the read model directly, since only reading is measured.
func (k *kit) fillSubscribers(b *testing.B, org string, count int) {
	b.Helper()
	insert := k.app.engines.views.SQL(subscribersviews.SubscribersName, `
insert into {schema}.subscribers
	(subscriber_id, org_id, account_number, first_name, last_name, phone, email, address, notes, tags, status,
	currency, balance_minor, created_at, revision, name_key, paid_until, access_from, access_level)
select gen_random_uuid(), $1, (1000000 + n)::text, 'First' || n, 'Last' || n, '+2547' || lpad(n::text, 8, '0'),
	'c' || n || '@example.org', 'House ' || n, '', array['fibre', 'estate ' || n % 50], 'active', 'KES',
	(n % 40) * 10000, timestamptz '2026-01-01' + n * interval '1 second', 0, 'first' || n || ' last' || n,
	now() + n * interval '1 minute', '{-infinity}', array[case when n % 1000 = 0 then 1 else 3 end]
from generate_series(1, $2) n`)
	if _, err := k.app.DB().Owner.Exec(b.Context(), insert, org, count); err != nil {
		b.Fatal(err)
	}
	for _, sql := range []string{`insert into {schema}.services (subscription_id, org_id, subscriber_id, plan_id,
			plan_name, mode, state, since, username, created_at, starts_at, paid_until, cap_then)
		select gen_random_uuid(), org_id, subscriber_id, md5((right(account_number, 2)))::uuid, 'Home 10', 'prepaid',
			'active', created_at, 'u' || account_number, created_at, created_at, paid_until, ''
		from {schema}.subscribers`, `insert into {schema}.terms select org_id, t, subscriber_id
		from {schema}.subscribers, unnest(string_to_array(name_key, ' ')
			|| array[account_number, email, ':' || substr(phone, 5)]) t
		on conflict do nothing`, `vacuum analyze {schema}.subscribers`, `vacuum analyze {schema}.services`,
		`vacuum analyze {schema}.terms`,
	} {
		sql = k.app.engines.views.SQL(subscribersviews.SubscribersName, sql)
		if _, err := k.app.DB().Owner.Exec(b.Context(), sql); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSubscribersFiltered measures pages a second of 25 of 100,000 subscribers by each sort with filters: what
// most fit, what few fit, and what nobody fits, which reads all of them. The slowest page is told in milliseconds; it
// is to stay below 1,000.
func BenchmarkSubscribersFiltered(b *testing.B) {
	k := newBenchKit(b)
	org := k.must(k.root, "GET", "/orgs", nil).list("data")[0].text("id")
	k.fillSubscribers(b, org, benchtest.Size(b, "ROWS", 100_000))
	l := dialMany(b, k.addr, 1)[0]
	slowest, pages := time.Duration(0), 0
	for b.Loop() {
		for _, sort := range subscribersviews.SubscriberSorts {
			for _, filter := range []string{
				"", "&access=full", "&access=walled_garden", "&access=throttled", "&online=false", "&online=true",
				"&owes=true", "&state=active", "&state=paused&access=none&owes=true", "&q=first7&access=full&owes=true",
			} {
				begun := time.Now()
				page := request(http.MethodGet, "/subscribers?limit=25&sort="+sort+filter, k.admin, "")
				if err := l.expect(http.StatusOK, page); err != nil {
					b.Fatal(err)
				}
				slowest, pages = max(slowest, time.Since(begun)), pages+1
			}
		}
		if err := l.expect(http.StatusOK, request(http.MethodGet, "/reports/customers", k.admin, "")); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(pages)/b.Elapsed().Seconds(), "pages/s")
	b.ReportMetric(float64(slowest.Milliseconds()), "slowest-ms")
}

// bareSQL is the query of GET /subscribers without filters, with the tenant as an argument.
const bareSQL = `
select subscriber_id, org_id, account_number, first_name, last_name, phone, email, address, notes, latitude, longitude,
	tags, external_ref, tax_pin, account_aliases, coalesce(language, '') as language, only_needed, whatsapp, status,
	currency, balance_minor, created_at, revision, paid_until, name_key, false as online,
	(select jsonb_agg(jsonb_build_object('subscriptionId', x.subscription_id, 'planId', x.plan_id,
			'planName', x.plan_name, 'username', x.username, 'state', x.state, 'paidUntil', x.paid_until,
			'dunning', x.step, 'level', 3))
		from {schema}.services x where x.subscriber_id = s.subscriber_id) as services
from (select * from {schema}.subscribers where org_id = $1 order by created_at desc, subscriber_id desc limit $2) s
order by created_at desc, subscriber_id desc`

// barePageRow has the fields of a subscriber in the order in which the API writes them.
type barePageRow struct {
	ID            id.Subscriber `json:"id"`
	AccountNumber string        `json:"accountNumber"`
	FirstName     *string       `json:"firstName"`
	LastName      *string       `json:"lastName"`
	Phone         *string       `json:"phone"`
	Email         *string       `json:"email"`
	Address       *string       `json:"address"`
	Notes         *string       `json:"notes"`
	Location      *struct{}     `json:"location"`
	Tags          []string      `json:"tags"`
	ExternalRef   *string       `json:"externalRef"`
	TaxPIN        *string       `json:"taxPin"`
	Aliases       []string      `json:"accountAliases"`
	Language      *string       `json:"language"`
	OnlyNeeded    bool          `json:"onlyNeeded"`
	WhatsApp      bool          `json:"whatsApp"`
	Status        string        `json:"status"`
	Balance       json.Number   `json:"balance"`
	Credit        json.Number   `json:"credit"`
	Currency      string        `json:"currency"`
	CreatedAt     time.Time     `json:"createdAt"`
	Access        *string       `json:"access"`
	Online        bool          `json:"online"`
	Outage        *struct{}     `json:"outage"`
	PaidUntil     *time.Time    `json:"paidUntil"`
	Services      []bareService `json:"services"`
}

// bareService has the fields of a service of a subscriber.
type bareService struct {
	SubscriptionID id.Subscription `json:"subscriptionId"`
	PlanID         id.Plan         `json:"planId"`
	PlanName       string          `json:"planName"`
	Username       *string         `json:"username"`
	State          string          `json:"state"`
	PaidUntil      *time.Time      `json:"paidUntil"`
	Access         string          `json:"access"`
	Dunning        string          `json:"dunning"`
	Online         bool            `json:"online"`
}

// bareServices has the services of a row as the API writes them.
func bareServices(r subscribersviews.SubscriberRow) []bareService {
	list := make([]bareService, len(r.Services))
	for i, s := range r.Services {
		list[i] = bareService{
			s.SubscriptionID, s.PlanID, s.PlanName, s.Username, s.State, s.PaidUntil, s.Access(), s.Dunning, s.Online,
		}
	}
	return list
}

// barePageBody has the fields of a list's answer, as httpapi writes them.
type barePageBody struct {
	Data       []barePageRow `json:"data"`
	NextCursor *string       `json:"nextCursor"`
	HasMore    bool          `json:"hasMore"`
}

// barePage answers with the page and does nothing else.
func barePage(pool *pgxpool.Pool, sql, org string) http.HandlerFunc {
	owner := uuid.MustParse(org)
	next := strings.Repeat("c", 120) // as long as a cursor
	return func(w http.ResponseWriter, r *http.Request) {
		found, _ := pool.Query(r.Context(), sql, owner, pageSize+1)
		rows, err := pgx.CollectRows(found, pgx.RowToStructByName[subscribersviews.SubscriberRow])
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		out := barePageBody{Data: make([]barePageRow, 0, pageSize), HasMore: len(rows) > pageSize, NextCursor: &next}
		for _, s := range rows[:min(pageSize, len(rows))] {
			out.Data = append(out.Data, barePageRow{
				ID: s.ID, AccountNumber: s.AccountNumber, FirstName: s.FirstName, LastName: s.LastName, Phone: s.Phone,
				Email: s.Email, Address: s.Address, Tags: s.Tags, Aliases: s.Aliases, Status: s.Status,
				Balance: s.Balance().Number(), Credit: s.Credit().Number(), Currency: string(s.Currency),
				CreatedAt: s.CreatedAt, Access: s.Access(), PaidUntil: s.PaidUntil, Services: bareServices(s),
			})
		}
		text, err := json.Marshal(out)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(text) // a caller that has gone needs no answer
	}
}

// samePage fails unless both sides write the same rows.
func samePage(b *testing.B, served, plain *line, page []byte) {
	b.Helper()
	var bodies [2]struct{ Data []map[string]any }
	for i, l := range []*line{plain, served} {
		if err := l.expect(http.StatusOK, page); err != nil {
			b.Fatal(err)
		}
		if err := json.Unmarshal(l.last, &bodies[i]); err != nil {
			b.Fatal(err)
		}
	}
	if diff := cmp.Diff(bodies[0], bodies[1]); diff != "" {
		b.Fatalf("the pages differ (-bare +served):\n%s", diff)
	}
}
