package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	"layeh.com/radius/rfc2865"
)

// TestVouchers_TheTimeIsGivenOnceByTwoPrograms: PostgreSQL is away, somebody signs in with a voucher at one program,
// and that program is killed. Its disk alone knows. Another device signs in at the other program, which has to believe
// that it is the first. When the killed program is back, the time runs from its sign-in, for both programs, and the
// voucher was sold once.
func TestVouchers_TheTimeIsGivenOnceByTwoPrograms(t *testing.T) {
	t.Parallel()
	cluster := startCluster(t)
	k := newKit(t, "DATABASE_URL="+cluster.URL())
	k.nodeApart()
	k, first := k.withVouchers()
	code := k.sellVoucher()
	other := k.startBeside(roles{roleAPI, roleRadius, roleProjections}, "DATA_DIR="+t.TempDir(),
		"RADIUS_AUTH_ADDR=127.0.0.1:0", "RADIUS_ACCT_ADDR=127.0.0.1:0")

	stopCluster(t, cluster)
	k.typeCode("02-00-00-00-00-01", code)
	accepted := time.Now()
	first.kill9()
	if err := cluster.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	ports, addr := k.radius, k.addr
	k.radius, k.app, k.addr = childPorts{}, other, other.Addr()
	k.typeCode("02-00-00-00-00-02", code)
	k.eventually("the administrator to sign in", func(ctx context.Context) (bool, error) {
		var err error // connections of before the outage fail once
		k.admin, _, err = k.client("acme").login(ctx, testAdminEmail, testPassword)
		return err == nil, err
	})
	k.eventually("the sign-in to be listed", func(ctx context.Context) (bool, error) {
		at, _, err := k.began(ctx)
		return at.After(accepted), fmt.Errorf("%v %w", at, err)
	})

	k.radius, k.addr = ports, addr
	k.spawn(addr)
	k.radius, k.addr = childPorts{}, other.Addr()
	k.eventually("the time to run from the first sign-in", func(ctx context.Context) (bool, error) {
		at, ends, err := k.began(ctx)
		return at.Before(accepted) && ends.Sub(at) >= 23*time.Hour && ends.Sub(at) <= 25*time.Hour,
			fmt.Errorf("%v %v %w", at, ends, err)
	})
	_, ends, err := k.began(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []childPorts{{}, ports} {
		k.radius = at
		now := time.Now()
		left := time.Duration(rfc2865.SessionTimeout_Get(k.typeCode("02-00-00-00-00-02", code))) * time.Second
		if end := now.Add(left); end.After(ends.Add(2*time.Second)) || end.Before(ends.Add(-5*time.Second)) {
			t.Errorf("%s is left, until %v; the voucher ends at %v", left, end, ends)
		}
	}
	since := accepted.AddDate(0, 0, -1).Format(time.DateOnly)
	report := k.must(k.admin, "GET", "/reports/collections?from="+since, nil)
	if list := report.list("channels"); len(list) != 1 || list[0]["count"] != 2.0 { // the other one of the batch, too
		t.Errorf("sold: %v", list)
	}
}

// began gives the first sign-in and the end of the voucher in use that began last.
func (k *kit) began(ctx context.Context) (at, ends time.Time, err error) {
	page, err := k.admin.call(ctx, "GET", "/vouchers?state=active", "", nil)
	for _, row := range page.list("data") {
		when, _ := time.Parse(time.RFC3339Nano, row.text("redeemedAt"))
		if when.After(at) {
			at = when
			ends, _ = time.Parse(time.RFC3339Nano, row.text("endsAt"))
		}
	}
	return at, ends, err
}
