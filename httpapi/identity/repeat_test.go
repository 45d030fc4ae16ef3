package identityapi_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/apitest/isptest"
)

// loseAnswers takes away the answers stored under Idempotency-Keys, and ends their leases, as if the program had
// stopped between its work and the storing.
func (k *ispKit) loseAnswers(t *testing.T) {
	t.Helper()
	if _, err := k.Core.DB.Owner.Exec(t.Context(),
		`update `+k.Core.DB.Namespace.Schema("vault")+
			`.idempotency set sealed = null, leased_until = first_used_at`); err != nil {
		t.Fatal(err)
	}
}

// TestRepeat_AfterALostAnswerFindsWhatTheFirstTryMade proves docs/rules/http.md#idempotency and
// docs/rules/engine.md#command-acts-once for every creation of both areas.
func TestRepeat_AfterALostAnswerFindsWhatTheFirstTryMade(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin, root := k.Admin(t), k.SignIn(t, apitest.Domain, isptest.RootEmail).AccessToken
	client, plan := k.Register(t, admin, isptest.Amina()).ID, k.Plan(t, admin, "p", "prepaid", "month")
	for i, r := range []apitest.Request{
		isptest.Post(admin, "/users", newcomer("nia@acme.test")),
		isptest.Post(admin, "/users", newcomer(isptest.OlgaEmail)), // a user of another organization
		isptest.At(apitest.Domain, isptest.Post(root, "/orgs", map[string]any{
			"slug": "acme-net", "name": "Net", "admin": map[string]any{
				"email": "b@net.test", "firstName": "B", "temporaryPassword": "for the first day",
			},
		})),
		isptest.At(apitest.Domain, isptest.Post(root, "/orgs", map[string]any{
			"slug": "acme-two", "name": "Two", "admin": map[string]any{
				"email": isptest.OlgaEmail, "firstName": "B", "temporaryPassword": "for the first day",
			},
		})),
		isptest.Post(admin, "/subscribers", isptest.Amina()),
		isptest.Post(admin, "/plans", isptest.PlanBody("x", "postpaid", "week")),
		isptest.Post(admin, "/subscriptions", map[string]any{"subscriberId": client, "planId": plan}),
		// it gets a second username
		isptest.Post(admin, "/subscriptions", map[string]any{"subscriberId": client, "planId": plan}),
	} {
		r.Header = map[string]string{"Idempotency-Key": "key-" + string(rune('a'+i))}
		first := k.Want(t, 201, "", r)
		k.loseAnswers(t)
		second := k.Want(t, 201, "", r)
		if string(first.Body) != string(second.Body) || first.Header.Get("ETag") != second.Header.Get("ETag") ||
			second.Header.Get("Idempotency-Replayed") != "" {
			t.Errorf("%s: first %s %s, then %s %s", r.Path, first.Header.Get("ETag"), first.Body,
				second.Header.Get("ETag"), second.Body)
		}
	}
	for path, want := range map[string]int{"/users": 5, "/subscribers": 2, "/plans": 2, "/subscriptions": 2} {
		var page struct{ Data []json.RawMessage }
		k.Want(t, 200, "", isptest.Get(admin, path)).Into(t, &page)
		if len(page.Data) != want {
			t.Errorf("%s has %d, want %d", path, len(page.Data), want)
		}
	}
}

func TestRepeat_ChangesActOnceThoughOthersCameBetween(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin := k.Admin(t)
	path := "/subscribers/" + k.Register(t, admin, isptest.Amina()).ID
	rename := isptest.Patch(admin, path, map[string]any{"firstName": "First"})
	rename.Header = map[string]string{"Idempotency-Key": "one"}
	block := isptest.Post(admin, path+"/block", map[string]string{"reason": "x"})
	block.Header = map[string]string{"Idempotency-Key": "two"}
	k.Want(t, 200, "", rename)
	k.Want(t, 200, "", block)
	k.Want(t, 200, "", isptest.Patch(admin, path, map[string]any{"firstName": "Second"}))
	k.Want(t, 200, "", isptest.Post(admin, path+"/unblock", map[string]string{"reason": "y"}))
	k.loseAnswers(t)
	k.Want(t, 200, "", rename)
	k.Want(t, 200, "", block)
	var c isptest.Client
	k.Want(t, 200, "", isptest.Get(admin, path)).Into(t, &c)
	if c.FirstName != "Second" || c.Status != "active" {
		t.Errorf("a repeat acted again: %+v", c)
	}
}

func TestLog_HasNoSecretsAndNoPersonalData(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	in := k.SignIn(t, apitest.Acme, isptest.AdminEmail)
	k.Login(t, apitest.Acme, isptest.AdminEmail, "a wrong guess")
	k.Register(t, in.AccessToken, isptest.Amina())
	k.Want(t, 201, "", isptest.Post(in.AccessToken, "/users", newcomer("nia@acme.test")))
	k.Want(t, 409, "already_member", isptest.Post(in.AccessToken, "/users", newcomer("nia@acme.test")))
	k.Want(t, 200, "", isptest.Get(in.AccessToken, "/subscribers?q=Amina"))
	k.Want(t, 200, "", isptest.Post("", "/auth/refresh", map[string]string{"refreshToken": in.RefreshToken}))
	logged := k.Log.String()
	if !strings.Contains(logged, "/auth/login") {
		t.Fatal("nothing was logged")
	}
	for _, word := range []string{
		isptest.AdminEmail, isptest.RightPassword, "a wrong guess", in.AccessToken, in.RefreshToken, "Amina", "Wanjiru",
		"712345678", "nia@", "for the first day",
	} {
		if strings.Contains(logged, word) {
			t.Errorf("the log has %q", word)
		}
	}
}
