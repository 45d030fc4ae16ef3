package main

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/simulators/provider"
)

// TestDatabase_HoldsSecretsAndPersonsOnlyWhereTheyBelong uses every part with conspicuous values, then searches every
// row of every table: no row has a secret in plain text, and only read models have personal text
// (docs/rules/engine.md#personal-fields, docs/rules/engine.md#vault).
func TestDatabase_HoldsSecretsAndPersonsOnlyWhereTheyBelong(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	k.paybillReady()
	persons := []string{"798765432", "Zebedee", "zebedee-mail", "quentin-mail", "Quentin", "Riverside-Road"}
	hidden := []string{
		"temporary-needle", "consumer-needle", "passkey-needle", "network-needle", testPassword, k.admin.token,
	}
	k.must(k.admin, "POST", "/users", map[string]string{
		"email": "quentin-mail@acme.test", "firstName": "Quentin", "role": "support",
		"temporaryPassword": "temporary-needle",
	})
	keyed := func(path string, body any) answer {
		out, err := k.admin.call(t.Context(), "POST", path, "key-of-"+path, body)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	key := k.scannedKeys(keyed)
	hidden = append(hidden, key...)
	plan := k.plan("home", 1500)
	s := keyed("/subscribers", map[string]string{
		"firstName": "Zebedee", "phone": "0798765432", "email": "zebedee-mail@mail.test", "address": "Riverside-Road 1",
	})
	keyed("/subscriptions", map[string]string{
		"subscriberId": s.text("id"), "planId": plan, "password": "network-needle",
	})
	k.issued(s.text("id"), 1)
	k.paid(keyed("/payments/initiate", map[string]any{"subscriberId": s.text("id"), "amount": 1500}).text("paymentId"),
		"SUCCESS")
	k.faults(provider.Faults{C2BAlso: true, DuplicateCallbacks: 1})
	k.pay("254798765432", "Zebedee's line", 20)
	k.pay("254798765432", s.text("accountNumber"), 20)
	k.refused(k.admin, "POST /payments/initiate",
		map[string]any{"subscriberId": s.text("id"), "amount": 1, "phone": "0798765432x"}, 422, "")
	_, _ = k.admin.call(t.Context(), "PUT", "/settings/payment-gateway", "", map[string]string{
		"mode": "direct", "environment": "sandbox",
		"shortcode": "600999", "consumerKey": "k", "consumerSecret": "consumer-needle", "passkey": "passkey-needle",
	})
	k.settled()
	for _, needle := range append(hidden, persons...) {
		if strings.Contains(k.log.String(), needle) {
			t.Errorf("the log has %q", needle)
		}
	}
	shown := k.shownIn(hidden, persons)
	if len(shown) != len(persons) || !shown[persons[0]] || !shown[persons[1]] {
		t.Errorf("read models show %v: what was looked for was not there at all", shown)
	}
}

// scannedKeys makes an API key and replaces it, uses both and a key that is refused, and gives their secrets.
func (k *kit) scannedKeys(keyed func(path string, body any) answer) (hidden []string) {
	k.t.Helper()
	made := keyed("/api-keys", map[string]string{"name": "Books", "role": "admin"})
	next := keyed("/api-keys/"+made.text("id")+"/rotate", map[string]string{"overlap": "1h"})
	for _, told := range []answer{made, next} {
		k.must(k.withKey(told), "GET", "/plans", nil)
		text, prefix := told.text("key"), told.text("prefix")
		hidden = append(hidden, text, text[len(prefix)+1:len(text)-8])
	}
	k.must(k.admin, "DELETE", "/api-keys/"+made.text("id"), nil)
	for _, told := range []answer{made, next} {
		k.refused(k.withKey(told), "POST /plans", map[string]string{"code": told.text("key")}, 401, "api_key_revoked")
	}
	return hidden
}

// shownIn looks for secrets and for persons in every row of every table. It gives the persons looked for, true when a
// read model shows them; a secret anywhere, or a person elsewhere than there and in kept messages, fails the test.
func (k *kit) shownIn(hidden, persons []string) map[string]bool {
	k.t.Helper()
	shown := map[string]bool{}
	for table, text := range k.everyRow() {
		for _, needle := range hidden {
			if holds(text, needle) {
				k.t.Errorf("%s has the secret %.20q", table, needle)
			}
		}
		for _, needle := range persons {
			readModel := strings.Contains(table, "_p_")
			shown[needle] = shown[needle] || readModel && holds(text, needle)
			kept := strings.HasSuffix(table, "_vault.outbox") // in development alone: nothing sends messages
			if holds(text, needle) && !readModel && !kept {
				k.t.Errorf("%s has %q", table, needle)
			}
		}
	}
	return shown
}

// holds reports whether a table's rows have a text, as text or as bytes.
func holds(rows, text string) bool {
	return strings.Contains(rows, text) || strings.Contains(rows, hex.EncodeToString([]byte(text)))
}

// everyRow gives the rows of every table of the installation as texts.
func (k *kit) everyRow() map[string]string {
	k.t.Helper()
	rows, err := k.db.Owner.Query(k.t.Context(),
		`select table_schema || '.' || table_name from information_schema.tables
		where table_schema like $1 and table_type = 'BASE TABLE'`, string(k.db.Namespace)+`\_%`)
	if err != nil {
		k.t.Fatal(err)
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		k.t.Fatal(err)
	}
	out := map[string]string{}
	for _, table := range tables {
		var text string
		if err := k.db.Owner.QueryRow(k.t.Context(),
			fmt.Sprintf(`select coalesce(string_agg(t::text, E'\n'), '') from %s t`, table)).Scan(&text); err != nil {
			k.t.Fatalf("%s: %v", table, err)
		}
		out[table] = text
	}
	return out
}
