package identityapi_test

import (
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/apitest/isptest"
	"github.com/lastmile-isp/lastmile/internal/apikeys"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
)

// apiKey is a key as the API shows it, with its text where it is told.
type apiKey struct {
	ID, Name, Prefix, Role, State, Key string
	Scopes, AllowedAddresses           []string
	CreatedBy, AnsweredBy              struct{ ID, Name string }
	ExpiresAt, LastUsedAt, RevokedAt   *time.Time
	LastUsedFrom                       *string
	Previous                           *struct {
		Prefix string
		Until  time.Time
	}
}

// issue makes a key at Acme, for somebody with an access token. more replaces fields of the body.
func (k *ispKit) issue(t *testing.T, as string, more map[string]any) apiKey {
	t.Helper()
	body := map[string]any{"name": "Books", "role": "admin"}
	maps.Copy(body, more)
	var key apiKey
	k.Want(t, 201, "", isptest.Post(as, "/api-keys", body)).Into(t, &key)
	return key
}

// rotate replaces a key's text at Acme; overlap "" = at once.
func (k *ispKit) rotate(t *testing.T, as, key, overlap string) apiKey {
	t.Helper()
	body := map[string]any{}
	if overlap != "" {
		body["overlap"] = overlap
	}
	var out apiKey
	k.Want(t, 200, "", isptest.Post(as, "/api-keys/"+key+"/rotate", body)).Into(t, &out)
	return out
}

// shown is a key as its organization reads it.
func (k *ispKit) shown(t *testing.T, as, key string) (out apiKey) {
	t.Helper()
	k.Want(t, 200, "", isptest.Get(as, "/api-keys/"+key)).Into(t, &out)
	return out
}

// remove revokes a key at Acme.
func (k *ispKit) remove(t *testing.T, as, key string) {
	t.Helper()
	k.Want(t, 204, "", apitest.Request{Method: "DELETE", Path: "/api-keys/" + key, As: as})
}

// works wants a key to read subscribers at Acme, or to be refused with a status and a code.
func (k *ispKit) works(t *testing.T, key string, status int, code string) {
	t.Helper()
	k.Want(t, status, code, isptest.Get(key, "/subscribers"))
}

func TestAPIKeys_TheTextIsShownOnceAndOpensTheOrganization(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin := k.Admin(t)
	key := k.issue(t, admin, map[string]any{
		"scopes": []string{"subscribers:write", "plans:read", "plans:read"}, "allowedAddresses": []string{"127.0.0.1"},
	})
	if _, ok := apikeys.Development.Parse(key.Key); !ok || !strings.HasPrefix(key.Key, key.Prefix+"_") ||
		strings.Join(key.Scopes, " ") != "plans:read subscribers:write" || key.State != "active" ||
		strings.Join(key.AllowedAddresses, " ") != "127.0.0.1/32" || key.CreatedBy.ID != key.AnsweredBy.ID ||
		key.CreatedBy.Name == "" || key.LastUsedAt != nil || key.ExpiresAt != nil {
		t.Fatalf("made %+v", key)
	}
	k.works(t, key.Key, 200, "")
	one := k.shown(t, admin, key.ID)
	if one.Key != "" || one.LastUsedAt == nil || !one.LastUsedAt.Equal(k.Clock.Now()) || one.LastUsedFrom == nil ||
		*one.LastUsedFrom != "127.0.0.1" {
		t.Errorf("read as %+v", one)
	}
	list := k.Want(t, 200, "", isptest.Get(admin, "/api-keys"))
	if text := string(list.Body); !strings.Contains(text, key.ID) || strings.Contains(text, key.Key) ||
		strings.Contains(text, key.Key[len(key.Prefix):len(key.Prefix)+20]) {
		t.Errorf("listed as %s", text)
	}
	k.works(t, key.Key[:len(key.Key)-1], 401, "unauthenticated")
	if log := k.Log.String(); !strings.Contains(log, key.ID) || strings.Contains(log, key.Key[len(key.Prefix):]) ||
		strings.Contains(log, key.Key[len(key.Prefix)+1:len(key.Key)-8]) {
		t.Error("the log does not name the key, or it has the text")
	}
	k.Want(t, 404, "api_key_not_found", isptest.Get(admin, "/api-keys/"+id.New[id.APIKey]().String()))
	olga := k.SignIn(t, apitest.Other, isptest.OlgaEmail).AccessToken
	k.Want(t, 404, "api_key_not_found", isptest.At(apitest.Other, isptest.Get(olga, "/api-keys/"+key.ID)))
	k.Want(t, 404, "api_key_not_found", apitest.Request{
		Method: "DELETE", Host: apitest.Other, Path: "/api-keys/" + key.ID, As: olga,
	})
	k.Want(t, 404, "api_key_not_found",
		isptest.At(apitest.Other, isptest.Post(olga, "/api-keys/"+key.ID+"/rotate", map[string]any{})))
}

func TestAPIKeys_WhatCannotBeIsRefusedByItsName(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin := k.Admin(t)
	for _, c := range []struct {
		body  map[string]any
		fault string
	}{
		{map[string]any{"name": "x", "role": "admin", "scopes": []string{"invoices:eat", "cats:read"}}, "invoices:eat"},
		{map[string]any{"name": "x", "role": "admin", "scopes": []string{"plans:read", "cats:read"}}, "cats:read"},
		{map[string]any{"name": "x", "role": "support", "scopes": []string{"subscribers:write"}}, "subscribers:write"},
		{map[string]any{"name": "x", "role": "admin", "scopes": []string{"api-keys:write"}}, "api-keys:write"},
		{map[string]any{"name": "x", "role": "admin", "scopes": []string{"users:write"}}, "users:write"},
		{map[string]any{"name": "x", "role": "admin", "scopes": []string{"auth:read"}}, "auth:read"},
		{map[string]any{"name": "x", "role": "admin", "scopes": []string{"orgs:read"}}, "orgs:read"},
		{map[string]any{"name": "x", "role": "super_admin"}, "role"},
		{map[string]any{"name": " ", "role": "admin"}, "name"},
		{map[string]any{"name": "x", "role": "admin", "scopes": []string{}}, "scopes"},
		{map[string]any{"name": "x", "role": "admin", "expiresAt": k.Clock.Now()}, "expiresAt"},
		{map[string]any{"name": "x", "role": "admin", "allowedAddresses": []string{"office"}}, "office"},
		{map[string]any{"name": "x", "role": "admin", "by": "me"}, "by"},
	} {
		a := k.Want(t, 422, "invalid_input", isptest.Post(admin, "/api-keys", c.body))
		if !strings.Contains(string(a.Body), c.fault) {
			t.Errorf("%v: %s", c.body, a.Body)
		}
	}
	for _, overlap := range []string{"soon", "-1h", "169h", "1"} {
		key := k.issue(t, admin, nil)
		k.Want(t, 422, "invalid_input",
			isptest.Post(admin, "/api-keys/"+key.ID+"/rotate", map[string]string{"overlap": overlap}))
	}
	support := k.SignIn(t, apitest.Acme, isptest.SupportEmail).AccessToken
	k.Want(t, 403, "role_required", isptest.Get(support, "/api-keys"))
	k.Want(t, 403, "role_required", isptest.Post(support, "/api-keys", map[string]any{"name": "x", "role": "support"}))
}

// TestAPIKeys_ScopesFollowFromTheRoutes: whoever adds a route adds its scope with it.
func TestAPIKeys_ScopesFollowFromTheRoutes(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	var list struct {
		Data []struct {
			Scope string
			Roles []string
		}
	}
	k.Want(t, 200, "", isptest.Get(k.Admin(t), "/api-key-scopes")).Into(t, &list)
	got := map[string]string{}
	for _, s := range list.Data {
		got[s.Scope] = strings.Join(s.Roles, " ")
	}
	for scope, roles := range map[string]string{
		"subscribers:read": "admin support", "subscribers:write": "admin", "users:read": "admin", "users:write": "",
		"settings:read": "admin support", "auth:read": "", "api-keys:read": "", "orgs:read": "",
	} {
		if got[scope] != roles {
			t.Errorf("%s is for %q, want %q", scope, got[scope], roles)
		}
	}
	for _, r := range k.Server.Routes() {
		takes := r.Access != httpapi.AccessPublic && r.Access != httpapi.AccessInternal && !r.PeopleOnly &&
			r.Access != httpapi.AccessSuperAdmin && r.Hosts&httpapi.OnOrganization != 0
		scope := strings.Split(r.Path, "/")[1] + ":write"
		if r.Method == http.MethodGet {
			scope = strings.Split(r.Path, "/")[1] + ":read"
		}
		if takes && got[scope] == "" {
			t.Errorf("%s %s has no scope %s", r.Method, r.Path, scope)
		}
	}
}

func TestAPIKeys_RoleAndScopeDecideWhatAKeyMay(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin := k.Admin(t)
	person := map[string]any{"firstName": "Amina", "phone": "0712000001"}
	reads := k.issue(t, admin, map[string]any{"scopes": []string{"subscribers:read"}}).Key
	k.works(t, reads, 200, "")
	k.Want(t, 403, "scope_required", isptest.Post(reads, "/subscribers", person))
	k.Want(t, 403, "scope_required", isptest.Get(reads, "/plans"))
	writes := k.issue(t, admin, map[string]any{"scopes": []string{"subscribers:write"}}).Key
	k.works(t, writes, 200, "")
	k.Want(t, 201, "", isptest.Post(writes, "/subscribers", person))
	k.Want(t, 403, "scope_required", isptest.Get(writes, "/plans"))
	k.Want(t, 403, "scope_required", isptest.Get(writes, "/users"))
	support := k.issue(t, admin, map[string]any{"role": "support"}).Key
	k.works(t, support, 200, "")
	k.Want(t, 403, "role_required", isptest.Post(support, "/subscribers", person))
	k.Want(t, 403, "role_required", isptest.Get(support, "/users"))
	all := k.issue(t, admin, nil).Key
	k.Want(t, 200, "", isptest.Get(all, "/plans"))
	k.Want(t, 200, "", isptest.Get(all, "/users"))
}

// TestAPIKeys_AKeyNeverManagesWhoMayEnter: whoever has stolen a key of all rights cannot make another one that outlives
// it, and cannot become a person.
func TestAPIKeys_AKeyNeverManagesWhoMayEnter(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	key := k.issue(t, k.Admin(t), nil)
	sue := k.Users[isptest.SupportEmail].String()
	tried := 0
	for _, r := range k.Server.Routes() {
		folder := strings.Split(r.Path, "/")[1]
		if folder != "api-keys" && folder != "api-key-scopes" && folder != "auth" &&
			(folder != "users" || r.Method == http.MethodGet) || r.Access == httpapi.AccessPublic {
			continue
		}
		tried++
		path := strings.ReplaceAll(r.Path, ":id", sue)
		k.Want(t, 403, "api_key_not_allowed", apitest.Request{Method: r.Method, Path: path, As: key.Key})
	}
	if tried < 12 {
		t.Errorf("only %d routes were tried", tried)
	}
	k.Want(t, 403, "api_key_not_allowed", isptest.Post(key.Key, "/auth/logout", nil))
	k.works(t, key.Key, 200, "")
}

// TestAPIKeys_WhatIsNoKeyOfThisHostGetsOneAnswer: malformed, unknown, of another organization, with another secret.
func TestAPIKeys_WhatIsNoKeyOfThisHostGetsOneAnswer(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	key := k.issue(t, k.Admin(t), nil).Key
	right, _ := apikeys.Development.Parse(key)
	guess := apikeys.New(right.ID)
	strange := apikeys.New(id.New[id.APIKeySecret]())
	bit := []byte(right.Secret.Reveal())
	bit[0] ^= 1
	flipped := apikeys.Key{ID: right.ID, Secret: secrets.Text(bit)}
	want := k.Want(t, 401, "unauthenticated", isptest.Get("", "/subscribers")).Body
	for name, text := range map[string]string{
		"a guess":                apikeys.Development.Text(guess).Reveal(),
		"unknown":                apikeys.Development.Text(strange).Reveal(),
		"of production":          apikeys.Live.Text(right).Reveal(),
		"a wrong checksum":       key[:len(key)-1] + string([]byte{key[len(key)-1] ^ 1}),
		"a bit of the secret":    key[:60] + string([]byte{key[60] ^ 1}) + key[61:],
		"a bit and its checksum": apikeys.Development.Text(flipped).Reveal(),
		"its prefix":             key[:45],
		"capitals":               strings.ToUpper(key),
		"twice":                  key + key,
		"empty parts":            "lastmile_dev__",
		"unicode":                "lastmile_dev_" + strings.Repeat("é", 30),
		"very long":              "lastmile_dev_" + strings.Repeat("a", 10_000),
		"no key and no token":    "lm_live_7d6f1c3a9b",
		"a second Bearer":        "Bearer " + key,
		"the form of a JWT":      "eyJhbGciOiJub25lIn0.e30.",
	} {
		a := k.Do(t, isptest.Get(text, "/subscribers"))
		if a.Status != 401 || string(a.Body) != string(want) {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
	}
	for _, host := range []string{apitest.Other, apitest.Domain} {
		path := "/subscribers"
		if host == apitest.Domain {
			path = "/orgs"
		}
		a := k.Want(t, 401, "unauthenticated", isptest.At(host, isptest.Get(key, path)))
		if string(a.Body) != string(want) {
			t.Errorf("at %s: %s", host, a.Body)
		}
	}
	k.Want(t, 401, "unauthenticated", apitest.Request{Path: "/subscribers", Cookie: key})
	k.Want(t, 401, "unauthenticated", apitest.Request{
		Path: "/subscribers", Header: map[string]string{"Authorization": "Basic " + key},
	})
	k.works(t, key, 200, "")
}
