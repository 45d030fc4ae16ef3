package main

import (
	"context"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/internal/storetest"
)

// TestStart_BehindAnUnreadableEventOfAUserTakesMoneyAndRefusesAccess: no rights of anybody are known then, and the
// provider calls all the same. Once the event can be read, people enter without another start.
func TestStart_BehindAnUnreadableEventOfAUserTakesMoneyAndRefusesAccess(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	_, account := k.subscriber("254711000601")
	k.app.Stop()
	schema := k.db.Namespace.Schema("eventstore")
	log := schema + ".readable_events"
	var was []byte
	if err := k.db.Owner.QueryRow(t.Context(), `select data from `+log+`
		where type = 'identity.PasswordChanged.v1' order by position limit 1`).Scan(&was); err != nil {
		t.Fatal(err)
	}
	set := func(from, to []byte) {
		t.Helper()
		_, err := k.db.Owner.Exec(t.Context(), storetest.SetData(schema, `$2`,
			`data = $1 and type = 'identity.PasswordChanged.v1'`), from, to)
		if err != nil {
			t.Fatal(err)
		}
	}
	set(was, []byte("{"))
	k.start()
	if got := k.errorOf(k.client(""), "GET", "/readyz", nil); got.Status != 503 ||
		!strings.Contains(got.Body, `"identity_directory":{"status":"down"`) {
		t.Errorf("readiness: %+v", got)
	}
	in := map[string]any{"email": testAdminEmail, "password": testPassword}
	k.refused(k.client("acme"), "POST /auth/login", in, 503, "access_unknown")
	k.refused(k.client(""), "POST /auth/login", in, 503, "access_unknown")
	k.admin.addr, k.root.addr = k.addr, k.addr
	k.refused(k.admin, "GET /subscribers", nil, 503, "access_unknown")
	k.refused(k.root, "GET /orgs", nil, 503, "access_unknown")

	k.eventually("registration of the new address for callbacks", func(ctx context.Context) (bool, error) {
		return paybillRegistered(ctx, k.db, k.app.startedAt)
	})
	k.pay("254711000601", account, 300)
	k.eventually("the money is credited", func(ctx context.Context) (credited bool, err error) {
		err = k.db.Owner.QueryRow(ctx,
			`select exists (select from `+log+` where type like 'billing.ReceiptCredited.%')`).Scan(&credited)
		return credited, err
	})
	set([]byte("{"), was)
	k.eventually("people can sign in again", func(ctx context.Context) (bool, error) {
		_, _, err := k.client("acme").login(ctx, testAdminEmail, testPassword)
		return err == nil, nil
	})
}
