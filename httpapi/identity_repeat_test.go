package httpapi_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/httpapi/apitest"
)

// loseAnswers forgets what was answered under Idempotency-Keys, as when the program was killed between its work and the
// storing of the answer.
func (k *ispKit) loseAnswers(t *testing.T) {
	t.Helper()
	if _, err := k.db.Owner.Exec(t.Context(),
		`delete from `+k.db.Namespace.Schema("vault")+`.idempotency`); err != nil {
		t.Fatal(err)
	}
}

// TestRepeat_AfterALostAnswerFindsWhatTheFirstTryMade is rules.md 22 and 24 for every creation of both areas.
func TestRepeat_AfterALostAnswerFindsWhatTheFirstTryMade(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin, root := k.admin(t), k.signIn(t, apitest.Domain, rootEmail).AccessToken
	client, plan := k.register(t, admin, amina()).ID, k.plan(t, admin, "p", "prepaid", "month")
	for i, r := range []apitest.Request{
		post(admin, "/users", newcomer("nia@acme.test")),
		post(admin, "/users", newcomer(olgaEmail)), // somebody who is known
		at(apitest.Domain, post(root, "/orgs", map[string]any{
			"slug": "acme-net", "name": "Net", "admin": map[string]any{
				"email": "b@net.test", "firstName": "B", "temporaryPassword": "for the first day",
			},
		})),
		at(apitest.Domain, post(root, "/orgs", map[string]any{
			"slug": "acme-two", "name": "Two", "admin": map[string]any{
				"email": olgaEmail, "firstName": "B", "temporaryPassword": "for the first day",
			},
		})),
		post(admin, "/subscribers", amina()),
		post(admin, "/plans", planBody("x", "postpaid", "week")),
		post(admin, "/subscriptions", map[string]any{"subscriberId": client, "planId": plan}),
		post(admin, "/subscriptions", map[string]any{"subscriberId": client, "planId": plan}), // under a second name
	} {
		r.Header = map[string]string{"Idempotency-Key": "key-" + string(rune('a'+i))}
		first := k.want(t, 201, "", r)
		k.loseAnswers(t)
		second := k.want(t, 201, "", r)
		if string(first.Body) != string(second.Body) || first.Header.Get("ETag") != second.Header.Get("ETag") ||
			second.Header.Get("Idempotency-Replayed") != "" {
			t.Errorf("%s: first %s %s, then %s %s", r.Path, first.Header.Get("ETag"), first.Body,
				second.Header.Get("ETag"), second.Body)
		}
	}
	for path, want := range map[string]int{"/users": 5, "/subscribers": 2, "/plans": 2, "/subscriptions": 2} {
		var page struct{ Data []json.RawMessage }
		k.want(t, 200, "", get(admin, path)).Into(t, &page)
		if len(page.Data) != want {
			t.Errorf("%s has %d, want %d", path, len(page.Data), want)
		}
	}
}

func TestRepeat_ChangesActOnceThoughOthersCameBetween(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin := k.admin(t)
	path := "/subscribers/" + k.register(t, admin, amina()).ID
	rename := patch(admin, path, map[string]any{"firstName": "First"})
	rename.Header = map[string]string{"Idempotency-Key": "one"}
	block := post(admin, path+"/block", map[string]string{"reason": "x"})
	block.Header = map[string]string{"Idempotency-Key": "two"}
	k.want(t, 200, "", rename)
	k.want(t, 200, "", block)
	k.want(t, 200, "", patch(admin, path, map[string]any{"firstName": "Second"}))
	k.want(t, 200, "", post(admin, path+"/unblock", map[string]string{"reason": "y"}))
	k.loseAnswers(t)
	k.want(t, 200, "", rename)
	k.want(t, 200, "", block)
	var c client
	k.want(t, 200, "", get(admin, path)).Into(t, &c)
	if c.FirstName != "Second" || c.Status != "active" {
		t.Errorf("a repeat acted again: %+v", c)
	}
}

func TestLog_HasNoSecretsAndNoPersonalData(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	in := k.signIn(t, apitest.Acme, adminEmail)
	k.login(t, apitest.Acme, adminEmail, "a wrong guess")
	k.register(t, in.AccessToken, amina())
	k.want(t, 201, "", post(in.AccessToken, "/users", newcomer("nia@acme.test")))
	k.want(t, 409, "already_member", post(in.AccessToken, "/users", newcomer("nia@acme.test")))
	k.want(t, 200, "", get(in.AccessToken, "/subscribers?q=Amina"))
	k.want(t, 200, "", post("", "/auth/refresh", map[string]string{"refreshToken": in.RefreshToken}))
	logged := k.Log.String()
	if !strings.Contains(logged, "/auth/login") {
		t.Fatal("nothing was logged")
	}
	for _, word := range []string{
		adminEmail, rightPassword, "a wrong guess", in.AccessToken, in.RefreshToken, "Amina", "Wanjiru", "712345678",
		"nia@", "for the first day",
	} {
		if strings.Contains(logged, word) {
			t.Errorf("the log has %q", word)
		}
	}
}
