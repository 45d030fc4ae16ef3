package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// tookMoney starts the program, has a customer pay 1,000 at the paybill, and kills the program.
func (k *kit) tookMoney(addr, phone string) (customer, account string) {
	k.t.Helper()
	program := k.spawn(addr)
	k.signIn()
	customer, account = k.subscriber(phone)
	k.eventually("registration of the paybill", func(context.Context) (bool, error) {
		return k.sim.Registered(testShortcode), nil
	})
	k.pay(phone, account, 1000)
	k.received(customer, 1)
	program.kill9()
	return customer, account
}

// TestKept_WhoPaysWhileTheProgramStartsIsCredited: the program starts while PostgreSQL is away, takes a payment, is
// killed, and takes another one in its next start. Both are credited once. All else is answered 503 meanwhile.
func TestKept_WhoPaysWhileTheProgramStartsIsCredited(t *testing.T) {
	t.Parallel()
	cluster := startCluster(t)
	k := newKit(t, "DATABASE_URL="+cluster.URL())
	addr := freePort(t)
	customer, account := k.tookMoney(addr, "254711000901")

	stopCluster(t, cluster)
	var program *child
	for n := range 2 {
		program = k.launch(addr)
		k.eventually("the listener", func(context.Context) (bool, error) {
			return k.statusOf(k.client(""), "/readyz") == http.StatusServiceUnavailable, nil
		})
		k.refused(k.client("acme"), "POST /auth/login", nil, http.StatusServiceUnavailable, "not_ready")
		k.refused(k.client(""), "POST /webhooks/mobile-money/c2b/validation", nil, http.StatusServiceUnavailable,
			"not_ready")
		k.pagesOpenByThemselves(addr)
		before := len(k.sim.Deliveries())
		k.pay("254711000901", account, 100+n)
		k.eventually("the answer to the callback", func(context.Context) (bool, error) {
			list := k.sim.Deliveries()
			return len(list) > before && list[len(list)-1].Status == http.StatusOK, fmt.Errorf("%+v", list)
		})
		if n == 0 {
			program.kill9()
		}
	}
	if err := cluster.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	k.eventually("service to be ready", func(context.Context) (bool, error) {
		return k.statusOf(k.client(""), "/readyz") == http.StatusOK, nil
	})
	k.admin, _ = k.login("acme", testAdminEmail, testPassword)
	k.received(customer, 3)
	program.kill9()
	k.spawn(addr)
	k.admin, _ = k.login("acme", testAdminEmail, testPassword)
	k.received(customer, 3)
	k.eventually("the balance", func(ctx context.Context) (bool, error) {
		s, err := k.admin.call(ctx, "GET", "/subscribers/"+customer, "", nil)
		return number(s, "balance") == "-1201.00", fmt.Errorf("%w %v", err, s)
	})
}

// pagesOpenByThemselves looks what a program that starts shows to browsers and to scripts.
func (k *kit) pagesOpenByThemselves(addr string) {
	k.t.Helper()
	for _, c := range []struct{ path, accept, want string }{
		{"/app/customers", "text/html,*/*;q=0.8", `http-equiv="refresh"`},
		{"/pay", "text/html,*/*;q=0.8", `http-equiv="refresh"`},
		{"/app/assets/index.js", "*/*", `"code":"not_ready"`},
		{"/subscribers", "text/html", `"code":"not_ready"`},
	} {
		req, err := http.NewRequestWithContext(k.t.Context(), http.MethodGet, "http://"+addr+c.path, nil)
		if err != nil {
			k.t.Fatal(err)
		}
		req.Header.Set("Accept", c.accept)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			k.t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil || res.StatusCode != http.StatusServiceUnavailable || !strings.Contains(string(body), c.want) {
			k.t.Errorf("%s: %d %s %v", c.path, res.StatusCode, body, err)
		}
	}
}

// received waits until a customer has so many receipts.
func (k *kit) received(subscriber string, count int) {
	k.t.Helper()
	k.eventually("receipts", func(context.Context) (bool, error) {
		list := k.all(k.admin, "/receipts?subscriberId="+subscriber)
		return len(list) == count, fmt.Errorf("%d of %d receipts", len(list), count)
	})
}
