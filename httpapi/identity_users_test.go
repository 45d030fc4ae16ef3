package httpapi_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// member is a user as the organization sees them.
type member struct {
	ID, FirstName, LastName, Role, Status, CreatedAt string
	Email, Phone                                     *string
}

// newcomer is the body that adds somebody.
func newcomer(email string) map[string]any {
	return map[string]any{
		"email": email, "firstName": "Nia", "lastName": "New", "phone": "0712 345 678", "role": "support",
		"temporaryPassword": "for the first day",
	}
}

func TestUsers_NewPasswordIsChosenBeforeAnythingElse(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin := k.admin(t)
	var made member
	k.want(t, 201, "", post(admin, "/users", newcomer("Nia@acme.test "))).Into(t, &made)
	if *made.Email != "nia@acme.test" || *made.Phone != "+254712345678" || made.Status != "invited" ||
		made.Role != "support" {
		t.Errorf("made %+v", made)
	}
	var in signedIn
	a := k.login(t, apitest.Acme, "nia@acme.test", "for the first day")
	a.Into(t, &in)
	if a.Status != 200 || !in.MustChangePassword {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	k.want(t, 403, "password_change_required", get(in.AccessToken, "/subscribers"))
	k.want(t, 200, "", get(in.AccessToken, "/auth/me"))
	k.want(t, 200, "", post(in.AccessToken, "/auth/password", map[string]string{
		"currentPassword": "for the first day", "newPassword": rightPassword,
	}))
	k.want(t, 200, "", get(in.AccessToken, "/subscribers")) // the same token, at once
	if again := k.signIn(t, apitest.Acme, "nia@acme.test"); again.MustChangePassword {
		t.Error("still must change the password")
	}
	k.want(t, 200, "", get(admin, "/users/"+made.ID)).Into(t, &made)
	if made.Status != "active" {
		t.Errorf("status %s", made.Status)
	}
	k.want(t, 409, "already_member", post(admin, "/users", newcomer("nia@acme.test")))
}

func TestUsers_AKnownAddressGivesNothingAway(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin := k.admin(t)
	var made [2]member
	var headers [2]string
	for i, email := range []string{"stranger@acme.test", olgaEmail} {
		a := k.want(t, 201, "", post(admin, "/users", newcomer(email)))
		a.Into(t, &made[i])
		headers[i] = a.Header.Get("ETag")
		if v := uuid.MustParse(made[i].ID).Version(); i == 0 && v != 5 {
			t.Errorf("id of version %d shows when it was made", v)
		}
		made[i].ID, made[i].Email = "", nil
	}
	if diff := cmp.Diff(made[0], made[1]); diff != "" || headers[0] != headers[1] {
		t.Errorf("(-new +known)\n%s %q", diff, headers)
	}
	// Neither can be told apart by correcting them, and nothing of it reaches the person's own organization.
	for _, email := range []string{"stranger@acme.test", olgaEmail} {
		path := "/users/" + k.memberID(t, admin, email)
		k.want(t, 412, "stale_revision", apitest.Request{
			Method: "PATCH", Path: path, As: admin, Body: map[string]any{},
			Header: map[string]string{"If-Match": `"3"`},
		})
		var m member
		k.want(t, 200, "", patch(admin, path, map[string]any{"firstName": "Renamed", "role": "admin"})).Into(t, &m)
		if m.FirstName != "Renamed" || m.Status != "invited" || m.Role != "admin" {
			t.Errorf("%s: %+v", email, m)
		}
	}
	olga := k.signIn(t, apitest.Other, olgaEmail)
	if olga.User.FirstName != "OLG" || olga.User.Phone != nil {
		t.Errorf("her own organization calls her %+v", olga.User)
	}
	// She keeps her password; signing in is her yes.
	if a := k.login(t, apitest.Acme, olgaEmail, "for the first day"); a.Status != 401 {
		t.Errorf("temporary password: %d", a.Status)
	}
	if in := k.signIn(t, apitest.Acme, olgaEmail); in.User.Role != "admin" || in.MustChangePassword {
		t.Errorf("%+v", in)
	}
	k.want(t, 409, "details_of_shared_user",
		patch(admin, "/users/"+k.users[olgaEmail].String(), map[string]any{"phone": "0700000000"}))
}

// memberID finds a user in the list.
func (k *ispKit) memberID(t *testing.T, as, email string) string {
	t.Helper()
	var page struct{ Data []member }
	k.want(t, 200, "", get(as, "/users?limit=100")).Into(t, &page)
	for _, m := range page.Data {
		if m.Email != nil && *m.Email == email {
			return m.ID
		}
	}
	t.Fatalf("%s is not listed", email)
	return ""
}

func TestUsers_DisablingAMemberWhoHasNotAcceptedOpensNothing(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin := k.admin(t)
	k.want(t, 201, "", post(admin, "/users", newcomer(olgaEmail)))
	path := "/users/" + k.users[olgaEmail].String()
	k.want(t, 200, "", post(admin, path+"/disable", nil))
	if a := k.login(t, apitest.Acme, olgaEmail, rightPassword); a.Status != 401 {
		t.Errorf("disabled: %d", a.Status)
	}
	var m member
	k.want(t, 200, "", post(admin, path+"/enable", nil)).Into(t, &m)
	if m.Status != "invited" {
		t.Errorf("status %s: nobody accepted", m.Status)
	}
	k.signIn(t, apitest.Acme, olgaEmail)
}

func TestUsers_DisabledOrDemotedEndsAtOnce(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin, sue := k.admin(t), k.signIn(t, apitest.Acme, supportEmail)
	path := "/users/" + k.users[supportEmail].String()
	k.want(t, 200, "", get(sue.AccessToken, "/subscribers"))
	k.want(t, 200, "", patch(admin, path, map[string]any{"role": "subscriber"}))
	k.want(t, 403, "role_required", get(sue.AccessToken, "/subscribers"))
	k.want(t, 200, "", patch(admin, path, map[string]any{"role": "admin"}))
	k.want(t, 200, "", get(sue.AccessToken, "/users"))
	k.want(t, 200, "", post(admin, path+"/disable", map[string]string{"reason": "left"}))
	k.want(t, 401, "unauthenticated", get(sue.AccessToken, "/auth/me"))
	k.want(t, 401, "refresh_token_invalid", post("", "/auth/refresh", map[string]string{
		"refreshToken": sue.RefreshToken,
	}))
	if a := k.login(t, apitest.Acme, supportEmail, rightPassword); a.Code() != "wrong_credentials" {
		t.Errorf("disabled: %d %s", a.Status, a.Body)
	}
	k.want(t, 200, "", post(admin, path+"/disable", nil))
	k.want(t, 200, "", post(admin, path+"/enable", nil))
	k.want(t, 401, "unauthenticated", get(sue.AccessToken, "/auth/me")) // the old session stays ended
	k.signIn(t, apitest.Acme, supportEmail)
	own := "/users/" + k.users[adminEmail].String()
	var me member
	k.want(t, 200, "", patch(admin, own, map[string]any{"phone": "0712345678"})).Into(t, &me)
	k.want(t, 200, "", patch(admin, own, `{"phone":null}`)).Into(t, &me)
	if me.Phone != nil {
		t.Errorf("phone %s", *me.Phone)
	}
	k.want(t, 409, "own_role", patch(admin, own, map[string]any{"role": "support"}))
	k.want(t, 409, "own_account", post(admin, own+"/disable", nil))
}

func TestUsers_RefusalsOfOthersAndOfForm(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin, support := k.admin(t), k.signIn(t, apitest.Acme, supportEmail).AccessToken
	for _, path := range []string{k.users[olgaEmail].String(), id.New[id.User]().String(), "x"} {
		k.want(t, 404, "user_not_found", get(admin, "/users/"+path))
		k.want(t, 404, "user_not_found", patch(admin, "/users/"+path, map[string]any{"role": "admin"}))
		k.want(t, 404, "user_not_found", post(admin, "/users/"+path+"/disable", nil))
		k.want(t, 404, "user_not_found", post(admin, "/users/"+path+"/enable", nil))
	}
	k.want(t, 403, "role_required", get(support, "/users"))
	k.want(t, 403, "role_required", post(support, "/users", newcomer("x@acme.test")))
	for field, value := range map[string]any{
		"email": "Nia <n@x.test>", "phone": "12", "firstName": " ", "role": "super_admin", "temporaryPassword": "short",
		"admin": true,
	} {
		body := newcomer("x@acme.test")
		body[field] = value
		if a := k.Do(t, post(admin, "/users", body)); a.Status != 422 || !strings.Contains(string(a.Body), field) {
			t.Errorf("%s: %d %s", field, a.Status, a.Body)
		}
	}
	k.want(t, 400, "missing_field", post(admin, "/users", map[string]any{"email": "x@acme.test"}))
	k.want(t, 422, "invalid_input",
		patch(admin, "/users/"+k.users[supportEmail].String(), map[string]any{"role": "super_admin"}))
}

func TestUsers_RepeatWithAKeyActsOnce(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin := k.admin(t)
	keyed := func(key string) apitest.Request {
		r := post(admin, "/users", newcomer("nia@acme.test"))
		r.Header = map[string]string{"Idempotency-Key": key}
		return r
	}
	first := k.want(t, 201, "", keyed("one"))
	second := k.want(t, 201, "", keyed("one"))
	if second.Header.Get("Idempotency-Replayed") != "true" || string(first.Body) != string(second.Body) {
		t.Errorf("%s, then %s", first.Body, second.Body)
	}
	k.want(t, 409, "already_member", keyed("two"))
}

func TestUsers_TwoOrganizationsAddTheSamePersonAtOnce(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	hosts := map[string]string{
		apitest.Acme: k.admin(t), apitest.Other: k.signIn(t, apitest.Other, olgaEmail).AccessToken,
	}
	var both sync.WaitGroup
	for host, as := range hosts {
		both.Go(func() {
			if a := k.Do(t, at(host, post(as, "/users", newcomer("nia@new.test")))); a.Status != 201 {
				t.Errorf("%s: %d %s", host, a.Status, a.Body)
			}
		})
	}
	both.Wait()
}

func TestOrganizations_CreatedWithAnAdministrator(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	root := k.signIn(t, apitest.Domain, rootEmail).AccessToken
	create := func(slug, email string) apitest.Request {
		return at(apitest.Domain, post(root, "/orgs", map[string]any{"slug": slug, "name": "Net " + slug,
			"admin": map[string]any{"email": email, "firstName": "Boss", "temporaryPassword": "for the first day"}}))
	}
	var org struct {
		ID, Slug, Name, Timezone, Currency, Country, InvoicePrefix, Status string
	}
	a := k.want(t, 201, "", create("acme-two", "boss@two.test"))
	a.Into(t, &org)
	if org.InvoicePrefix != "ACMETW" || org.Timezone != "Africa/Nairobi" || org.Currency != "KES" ||
		org.Country != "KE" || org.Status != "active" || a.Header.Get("ETag") == "" {
		t.Errorf("%s", a.Body)
	}
	host := "acme-two." + apitest.Domain
	var in signedIn
	k.login(t, host, "boss@two.test", "for the first day").Into(t, &in)
	if in.User.Role != "admin" || !in.MustChangePassword {
		t.Fatalf("administrator: %+v", in)
	}
	for i, prefix := range []string{"ACMET2", "ACMET3"} { // beginnings that collide
		k.want(t, 201, "", create([]string{"acmetwo", "acme-twist-twice"}[i], "boss@two.test")).Into(t, &org)
		if i == 0 && org.InvoicePrefix != prefix {
			t.Errorf("prefix %s, want %s", org.InvoicePrefix, prefix)
		}
	}
	k.want(t, 409, "slug_taken", create("acme", "x@two.test"))
	for _, bad := range []string{"www", "Acme", "a_b", "-a", "a-", "xn--e1aybc", strings.Repeat("a", 64)} {
		if a := k.Do(t, create(bad, "x@two.test")); a.Status != 422 || !strings.Contains(string(a.Body), "slug") {
			t.Errorf("%s: %d %s", bad, a.Status, a.Body)
		}
	}
	k.want(t, 422, "invalid_input", create("good", "no address"))
	k.want(t, 404, "not_found", at("good."+apitest.Domain, get("", "/auth/me"))) // nothing was half made
	k.want(t, 201, "", create("good", "x@two.test"))
}

func TestOrganizations_SuspensionEndsEverybodysAccessAtOnce(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	root, admin := k.signIn(t, apitest.Domain, rootEmail).AccessToken, k.signIn(t, apitest.Acme, adminEmail)
	path := "/orgs/" + k.acme.String()
	k.want(t, 422, "invalid_input", at(apitest.Domain, post(root, path+"/suspend", map[string]string{"reason": " "})))
	k.want(t, 400, "missing_field", at(apitest.Domain, post(root, path+"/suspend", nil)))
	k.want(t, 200, "", at(apitest.Domain, post(root, path+"/suspend", map[string]string{"reason": "unpaid"})))
	k.want(t, 403, "organization_suspended", get(admin.AccessToken, "/auth/me"))
	k.want(t, 403, "organization_suspended", post("", "/auth/refresh", map[string]string{
		"refreshToken": admin.RefreshToken,
	}))
	if a := k.login(t, apitest.Acme, adminEmail, rightPassword); a.Status != 403 {
		t.Errorf("login: %d", a.Status)
	}
	k.want(t, 200, "", at(apitest.Domain, post(root, path+"/resume", map[string]string{"reason": "paid"})))
	k.want(t, 200, "", get(admin.AccessToken, "/auth/me"))
	k.want(t, 404, "organization_not_found", at(apitest.Domain, get(root, "/orgs/"+id.New[id.Organization]().String())))
	k.want(t, 404, "organization_not_found",
		at(apitest.Domain, post(root, "/orgs/x/suspend", map[string]string{"reason": "x"})))
	var page struct {
		Data    []struct{ Slug string }
		HasMore bool
	}
	k.want(t, 200, "", at(apitest.Domain, get(root, "/orgs?limit=1"))).Into(t, &page)
	if len(page.Data) != 1 || !page.HasMore {
		t.Errorf("page %+v", page)
	}
}

// put changes Acme's settings.
func put(as string, body any) apitest.Request {
	return apitest.Request{Method: "PUT", Path: "/settings/organization", As: as, Body: body}
}

func TestSettings_ChangeWhatIsGiven(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin, support := k.admin(t), k.signIn(t, apitest.Acme, supportEmail).AccessToken
	before := k.want(t, 200, "", get(support, "/settings/organization"))
	k.want(t, 403, "role_required", put(support, map[string]any{"name": "X"}))
	same := k.want(t, 200, "", put(admin, map[string]any{}))
	if same.Header.Get("ETag") != before.Header.Get("ETag") {
		t.Errorf("nothing changed, but the revision: %s", same.Header.Get("ETag"))
	}
	var s struct {
		Name, Slug, Timezone, Currency, InvoicePrefix, TaxPIN string
		Tax                                                   struct {
			Mode       string
			Components []struct {
				Name string
				Rate json.Number
			}
		}
		Holidays []string
	}
	k.want(t, 200, "", put(admin, map[string]any{
		"name": "Acme Networks", "taxPin": "P051234567X", "holidays": []string{"2026-12-25"},
		"tax": map[string]any{
			"mode": "exclusive", "components": []map[string]any{
				{"name": "VAT", "rate": 16}, {"name": "Levy", "rate": 1.25},
			},
		},
	})).Into(t, &s)
	if s.Name != "Acme Networks" || s.Timezone != "Africa/Nairobi" || s.Tax.Mode != "exclusive" ||
		s.Tax.Components[1].Rate != "1.25" || s.Holidays[0] != "2026-12-25" {
		t.Errorf("settings %+v", s)
	}
	for field, body := range map[string]any{"timezone": map[string]any{"timezone": "Mars/Base"}, "tax": map[string]any{
		"tax": map[string]any{"mode": "inclusive", "components": []map[string]any{{"name": "V", "rate": 101}}},
	},
		"invoicePrefix": map[string]any{"invoicePrefix": "x"}, "country": map[string]any{"country": "Kenya"},
		"name": map[string]any{"name": " "}} {
		if a := k.Do(t, put(admin, body)); a.Status != 422 || !strings.Contains(string(a.Body), field) {
			t.Errorf("%s: %d %s", field, a.Status, a.Body)
		}
	}
	k.want(t, 409, "currency_fixed", put(admin, map[string]any{"currency": "UGX"}))
	// its numbers would be others' phones
	k.want(t, 422, "invalid_input", put(admin, map[string]any{"invoicePrefix": "071234"}))
	k.want(t, 409, "invoice_prefix_taken", put(admin, map[string]any{"invoicePrefix": "OTHER"}))
	r := put(admin, map[string]any{"taxPin": "X"})
	r.Header = map[string]string{"If-Match": `"0"`}
	k.want(t, 412, "stale_revision", r)
}

func TestSettings_AUsedInvoicePrefixIsNeverAnothers(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin, olga := k.admin(t), k.signIn(t, apitest.Other, olgaEmail).AccessToken
	k.want(t, 200, "", put(admin, map[string]any{"invoicePrefix": "NET"}))
	k.want(t, 409, "invoice_prefix_taken", at(apitest.Other, put(olga, map[string]any{"invoicePrefix": "ACME"})))
	k.want(t, 200, "", put(admin, map[string]any{"invoicePrefix": "ACME"})) // its own again
}

func TestSettings_ChangesOfDifferentFieldsAtOnceBothCount(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin := k.admin(t)
	var both sync.WaitGroup
	for _, body := range []map[string]any{{"taxPin": "P1"}, {"timezone": "Africa/Kampala"}, {"country": "UG"}} {
		both.Go(func() {
			if a := k.Do(t, put(admin, body)); a.Status != 200 {
				t.Errorf("%v: %d %s", body, a.Status, a.Body)
			}
		})
	}
	both.Wait()
	var s struct{ TaxPIN, Timezone, Country string }
	k.want(t, 200, "", get(admin, "/settings/organization")).Into(t, &s)
	if s.TaxPIN != "P1" || s.Timezone != "Africa/Kampala" || s.Country != "UG" {
		t.Errorf("one was lost: %+v", s)
	}
}

func TestUsers_ADisabledMembershipCannotBeAccepted(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin := k.admin(t)
	k.want(t, 201, "", post(admin, "/users", newcomer(olgaEmail)))
	k.want(t, 200, "", post(admin, "/users/"+k.users[olgaEmail].String()+"/disable", nil))
	_, err := k.bus.Execute(t.Context(), commands.AcceptMembership{UserID: k.users[olgaEmail], OrgID: k.acme},
		commands.Meta{CommandID: id.New[id.Command](), OrgID: k.acme})
	if failure.CodeOf(err) != "user_not_found" {
		t.Errorf("accepted: %v", err)
	}
}
