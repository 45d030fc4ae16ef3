package main

import (
	"context"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestPayPage_SaysInPlainWordsThatItCannotAskNow: PostgreSQL goes away, and comes back; then the event store alone
// does. A customer who presses the button again and again gets a page each time, and his phone is asked once.
func TestPayPage_SaysInPlainWordsThatItCannotAskNow(t *testing.T) {
	t.Parallel()
	cluster := startCluster(t)
	k := newKit(t, "DATABASE_URL="+cluster.URL())
	node, stopNode := k.besideEventStore()
	customer, account := k.subscriber("254711000777")
	k.subscribe(customer, k.plan("home", 1500))
	k.issued(customer, 1)
	k.must(k.client(""), "GET", "/healthz", nil)
	if _, err := k.simCall("PUT", "/sim/phones/default", map[string]any{"behaviour": "silent"}); err != nil {
		t.Fatal(err)
	}

	stopCluster(t, cluster)
	for _, form := range []bool{false, true, true} {
		status, text := k.payPage(account, form)
		if status == http.StatusOK && !form {
			continue // the form alone needs nothing
		}
		if status != http.StatusServiceUnavailable || !strings.Contains(text, "hayajapotea") {
			t.Errorf("without PostgreSQL, form %v: %d %s", form, status, text)
		}
	}
	k.platformWithoutDatabase()
	if err := cluster.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	k.eventually("the page to take the request", func(context.Context) (bool, error) {
		status, _ := k.payPage(account, true)
		return status == http.StatusAccepted, nil
	})
	k.eventually("the phone to be asked", func(context.Context) (bool, error) {
		return len(k.sim.Prompts()) > 0, nil
	})
	stopNode()
	for range 2 {
		if status, text := k.payPage(account, true); status != http.StatusAccepted &&
			(status != http.StatusServiceUnavailable || !strings.Contains(text, "hayajapotea")) {
			t.Errorf("without the event store: %d %s", status, text)
		}
	}
	k.eventStoreAlone(node)
	k.eventually("service to be ready again", func(context.Context) (bool, error) {
		return k.statusOf(k.client(""), "/readyz") == http.StatusOK, nil
	})
	k.askedAll()
	if n := len(k.sim.Prompts()); n != 1 {
		t.Errorf("the phone was asked %d times", n)
	}
}

// askedAll waits until no customer of the payment page is still to be asked.
func (k *kit) askedAll() {
	k.t.Helper()
	k.eventually("the jobs to be done", func(ctx context.Context) (bool, error) {
		var n int
		db := k.app.storage.db
		err := db.Owner.QueryRow(ctx, `select count(*) from `+db.Namespace.Schema("river")+`.river_job
			where kind = 'payments_ask_to_pay' and state not in ('completed', 'cancelled', 'discarded')`).Scan(&n)
		return err == nil && n == 0, err
	})
}

// platformWithoutDatabase reads what operators see while PostgreSQL is away: which part is down, and no figure that is
// not known.
func (k *kit) platformWithoutDatabase() {
	k.t.Helper()
	states := map[string]string{}
	for _, p := range k.must(k.root, "GET", "/system/parts", nil).list("data") {
		states[p.text("name")] = p.text("state")
	}
	if states["postgres"] != "down" {
		k.t.Errorf("without PostgreSQL the parts are %v", states)
	}
	report := k.must(k.root, "GET", "/reports/today", nil)
	roots := map[string]bool{}
	for _, f := range report.list("faults") {
		roots[f.text("kind")+" "+f.at("root.id")] = true
	}
	delete(roots, "part_down eventstore") // the kit's node is another program, in the same database
	if want := map[string]bool{"part_down postgres": true}; !maps.Equal(roots, want) {
		k.t.Errorf("without PostgreSQL the platform's report has %v", roots)
	}
	for _, name := range []string{"organizations", "suspense", "processes"} {
		if v, ok := report[name]; v != nil || !ok {
			k.t.Errorf("without PostgreSQL the platform's report has %v as %s", v, name)
		}
	}
}

// payPage reads the payment page of acme in Kiswahili, or sends its form.
func (k *kit) payPage(account string, form bool) (int, string) {
	k.t.Helper()
	method, body := http.MethodGet, io.Reader(nil)
	if form {
		method, body = http.MethodPost, strings.NewReader(url.Values{"account": {account}}.Encode())
	}
	r, err := http.NewRequestWithContext(k.t.Context(), method, "http://"+k.addr+"/pay?lang=sw", body)
	if err != nil {
		k.t.Fatal(err)
	}
	r.Host = "acme.lastmile.test"
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	out, err := http.DefaultClient.Do(r)
	if err != nil {
		k.t.Fatal(err)
	}
	defer func() { _ = out.Body.Close() }()
	text, err := io.ReadAll(out.Body)
	if err != nil || !strings.Contains(out.Header.Get("Content-Type"), "text/html") {
		k.t.Errorf("%d %s is no page: %s %v", out.StatusCode, out.Header, text, err)
	}
	return out.StatusCode, string(text)
}
