package identityapi_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/httpapi/apitest"
	"github.com/lastmile-isp/lastmile/httpapi/apitest/isptest"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// member is a user as the organization's API shows the person.
type member struct {
	ID, FirstName, LastName, Role, Status, CreatedAt string
	Email, Phone                                     *string
	TemporaryPasswordUntil                           *time.Time
}

// newcomer is the body that adds a user with the role support.
func newcomer(email string) map[string]any {
	return map[string]any{
		"email": email, "firstName": "Nia", "lastName": "New", "phone": "0712 345 678", "role": "support",
		"temporaryPassword": "for the first day",
	}
}

func TestUsers_NewPasswordIsChosenBeforeAnythingElse(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin := k.Admin(t)
	var made member
	k.Want(t, 201, "", isptest.Post(admin, "/users", newcomer("Nia@acme.test "))).Into(t, &made)
	if *made.Email != "nia@acme.test" || *made.Phone != "+254712345678" || made.Status != "invited" ||
		made.Role != "support" {
		t.Errorf("made %+v", made)
	}
	if until := made.TemporaryPasswordUntil; until == nil || !until.Equal(k.Clock.Now().Add(30*24*time.Hour)) {
		t.Errorf("the temporary password works until %v", until)
	}
	var in isptest.SignedIn
	a := k.Login(t, apitest.Acme, "nia@acme.test", "for the first day")
	a.Into(t, &in)
	if a.Status != 200 || !in.MustChangePassword {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	k.Want(t, 403, "password_change_required", isptest.Get(in.AccessToken, "/subscribers"))
	k.Want(t, 200, "", isptest.Get(in.AccessToken, "/auth/me"))
	k.Want(t, 200, "", isptest.Post(in.AccessToken, "/auth/password", map[string]string{
		"currentPassword": "for the first day", "newPassword": isptest.RightPassword,
	}))
	k.Want(t, 200, "", isptest.Get(in.AccessToken, "/subscribers")) // the same token works at once
	if again := k.SignIn(t, apitest.Acme, "nia@acme.test"); again.MustChangePassword {
		t.Error("still must change the password")
	}
	k.Want(t, 200, "", isptest.Get(admin, "/users/"+made.ID)).Into(t, &made)
	if made.Status != "active" || made.TemporaryPasswordUntil != nil {
		t.Errorf("%+v", made)
	}
	for query, want := range map[string]int{"q=NIA": 1, "q=nia&role=admin": 0, "status=disabled": 0} {
		var found struct {
			Data []struct{ LastSignInAt *time.Time }
		}
		k.Want(t, 200, "", isptest.Get(admin, "/users?"+query)).Into(t, &found)
		if len(found.Data) != want || want == 1 && found.Data[0].LastSignInAt == nil {
			t.Errorf("%s: %+v", query, found.Data)
		}
	}
	k.Want(t, 422, "invalid_input", isptest.Get(admin, "/users?role=owner"))
	k.Want(t, 409, "already_member", isptest.Post(admin, "/users", newcomer("nia@acme.test")))
}

func TestUsers_AKnownAddressGivesNothingAway(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin := k.Admin(t)
	var made [2]member
	var headers [2]string
	for i, email := range []string{"stranger@acme.test", isptest.OlgaEmail} {
		a := k.Want(t, 201, "", isptest.Post(admin, "/users", newcomer(email)))
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
	// A correction does not show which of them is a user elsewhere, and does not reach the person's own organization.
	for _, email := range []string{"stranger@acme.test", isptest.OlgaEmail} {
		path := "/users/" + k.memberID(t, admin, email)
		k.Want(t, 412, "stale_revision", apitest.Request{
			Method: "PATCH", Path: path, As: admin, Body: map[string]any{},
			Header: map[string]string{"If-Match": `"3"`},
		})
		var m member
		k.Want(t, 200, "", isptest.Patch(admin, path, map[string]any{"firstName": "Renamed", "role": "admin"})).Into(t,
			&m)
		if m.FirstName != "Renamed" || m.Status != "invited" || m.Role != "admin" {
			t.Errorf("%s: %+v", email, m)
		}
		var in isptest.SignedIn // the temporary password is good at this host, and only here
		k.Login(t, apitest.Acme, email, "for the first day").Into(t, &in)
		if in.User.Role != "admin" || !in.MustChangePassword || in.User.FirstName != "Renamed" {
			t.Errorf("%s: %+v", email, in)
		}
	}
	olga := k.SignIn(t, apitest.Other, isptest.OlgaEmail)
	if olga.User.FirstName != "OLG" || olga.User.Phone != nil || olga.MustChangePassword {
		t.Errorf("her own organization calls her %+v", olga.User)
	}
	if a := k.Login(t, apitest.Acme, isptest.OlgaEmail, isptest.RightPassword); a.Status != 401 {
		t.Errorf("her password at another organization: %d", a.Status)
	}
	if a := k.Login(t, apitest.Other, isptest.OlgaEmail, "for the first day"); a.Status != 401 {
		t.Errorf("the temporary password at her own organization: %d", a.Status)
	}
}

// memberID finds the id of a user in the list by the e-mail address.
func (k *ispKit) memberID(t *testing.T, as, email string) string {
	t.Helper()
	var page struct{ Data []member }
	k.Want(t, 200, "", isptest.Get(as, "/users?limit=100")).Into(t, &page)
	for _, m := range page.Data {
		if m.Email != nil && *m.Email == email {
			return m.ID
		}
	}
	t.Fatalf("%s is not listed", email)
	return ""
}

func TestUsers_DisabledOrDemotedEndsAtOnce(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin, sue := k.Admin(t), k.SignIn(t, apitest.Acme, isptest.SupportEmail)
	path := "/users/" + k.Users[isptest.SupportEmail].String()
	k.Want(t, 200, "", isptest.Get(sue.AccessToken, "/subscribers"))
	k.Want(t, 200, "", isptest.Patch(admin, path, map[string]any{"role": "subscriber"}))
	k.Want(t, 403, "role_required", isptest.Get(sue.AccessToken, "/subscribers"))
	k.Want(t, 200, "", isptest.Patch(admin, path, map[string]any{"role": "admin"}))
	k.Want(t, 200, "", isptest.Get(sue.AccessToken, "/users"))
	k.Want(t, 200, "", isptest.Post(admin, path+"/disable", map[string]string{"reason": "left"}))
	k.Want(t, 401, "unauthenticated", isptest.Get(sue.AccessToken, "/auth/me"))
	k.Want(t, 401, "refresh_token_invalid", isptest.Post("", "/auth/refresh", map[string]string{
		"refreshToken": sue.RefreshToken,
	}))
	if a := k.Login(t, apitest.Acme, isptest.SupportEmail, isptest.RightPassword); a.Code() != "wrong_credentials" {
		t.Errorf("disabled: %d %s", a.Status, a.Body)
	}
	k.Want(t, 200, "", isptest.Post(admin, path+"/disable", nil))
	k.Want(t, 200, "", isptest.Post(admin, path+"/enable", nil))
	k.Want(t, 401, "unauthenticated", isptest.Get(sue.AccessToken, "/auth/me")) // the old session is not opened again
	k.SignIn(t, apitest.Acme, isptest.SupportEmail)
	own := "/users/" + k.Users[isptest.AdminEmail].String()
	var me member
	k.Want(t, 200, "", isptest.Patch(admin, own, map[string]any{"phone": "0712345678"})).Into(t, &me)
	k.Want(t, 200, "", isptest.Patch(admin, own, `{"phone":null}`)).Into(t, &me)
	if me.Phone != nil {
		t.Errorf("phone %s", *me.Phone)
	}
	k.Want(t, 409, "own_role", isptest.Patch(admin, own, map[string]any{"role": "support"}))
	k.Want(t, 409, "own_account", isptest.Post(admin, own+"/disable", nil))
}

func TestUsers_ALostPasswordIsReplacedUntilTheNextSignIn(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin, sue := k.Admin(t), k.SignIn(t, apitest.Acme, isptest.SupportEmail)
	path := "/users/" + k.Users[isptest.SupportEmail].String() + "/password"
	word := map[string]string{"temporaryPassword": "until you choose one"}
	k.Want(t, 403, "role_required", isptest.Post(sue.AccessToken, path, word))
	k.Want(t, 422, "invalid_input", isptest.Post(admin, path, map[string]string{"temporaryPassword": "short"}))
	foreign, own := k.Users[isptest.OlgaEmail].String(), k.Users[isptest.AdminEmail].String()
	k.Want(t, 404, "user_not_found", isptest.Post(admin, "/users/"+foreign+"/password", word))
	k.Want(t, 409, "own_password", isptest.Post(admin, "/users/"+own+"/password", word))
	var given struct{ Status string }
	answer := k.Want(t, 200, "", isptest.Post(admin, path, word))
	answer.Into(t, &given)
	if given.Status != "invited" || strings.Contains(string(answer.Body), word["temporaryPassword"]) {
		t.Errorf("given: %s", answer.Body)
	}
	k.Want(t, 401, "unauthenticated", isptest.Get(sue.AccessToken, "/auth/me"))
	if a := k.Login(t, apitest.Acme, isptest.SupportEmail, isptest.RightPassword); a.Code() != "wrong_credentials" {
		t.Errorf("the lost one: %d %s", a.Status, a.Body)
	}
	var in struct {
		AccessToken        string
		MustChangePassword bool
	}
	k.Login(t, apitest.Acme, isptest.SupportEmail, word["temporaryPassword"]).Into(t, &in)
	if !in.MustChangePassword {
		t.Error("the temporary one may be kept")
	}
	k.Want(t, 403, "password_change_required", isptest.Get(in.AccessToken, "/subscribers"))
}

func TestUsers_RefusalsOfOthersAndOfForm(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin, support := k.Admin(t), k.SignIn(t, apitest.Acme, isptest.SupportEmail).AccessToken
	for _, path := range []string{k.Users[isptest.OlgaEmail].String(), id.New[id.User]().String(), "x"} {
		k.Want(t, 404, "user_not_found", isptest.Get(admin, "/users/"+path))
		k.Want(t, 404, "user_not_found", isptest.Patch(admin, "/users/"+path, map[string]any{"role": "admin"}))
		k.Want(t, 404, "user_not_found", isptest.Post(admin, "/users/"+path+"/disable", nil))
		k.Want(t, 404, "user_not_found", isptest.Post(admin, "/users/"+path+"/enable", nil))
	}
	k.Want(t, 403, "role_required", isptest.Get(support, "/users"))
	k.Want(t, 403, "role_required", isptest.Post(support, "/users", newcomer("x@acme.test")))
	for field, value := range map[string]any{
		"email": "Nia <n@x.test>", "phone": "12", "firstName": " ", "role": "super_admin", "temporaryPassword": "short",
		"admin": true,
	} {
		body := newcomer("x@acme.test")
		body[field] = value
		if a := k.Do(t, isptest.Post(admin, "/users", body)); a.Status != 422 ||
			!strings.Contains(string(a.Body), field) {
			t.Errorf("%s: %d %s", field, a.Status, a.Body)
		}
	}
	k.Want(t, 400, "missing_field", isptest.Post(admin, "/users", map[string]any{"email": "x@acme.test"}))
	k.Want(t, 422, "invalid_input",
		isptest.Patch(admin, "/users/"+k.Users[isptest.SupportEmail].String(), map[string]any{"role": "super_admin"}))
}

func TestUsers_RepeatWithAKeyActsOnce(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin := k.Admin(t)
	keyed := func(key string) apitest.Request {
		r := isptest.Post(admin, "/users", newcomer("nia@acme.test"))
		r.Header = map[string]string{"Idempotency-Key": key}
		return r
	}
	first := k.Want(t, 201, "", keyed("one"))
	second := k.Want(t, 201, "", keyed("one"))
	if second.Header.Get("Idempotency-Replayed") != "true" || string(first.Body) != string(second.Body) {
		t.Errorf("%s, then %s", first.Body, second.Body)
	}
	k.Want(t, 409, "already_member", keyed("two"))
}

func TestUsers_TwoOrganizationsAddTheSamePersonAtOnce(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	hosts := map[string]string{
		apitest.Acme: k.Admin(t), apitest.Other: k.SignIn(t, apitest.Other, isptest.OlgaEmail).AccessToken,
	}
	var both sync.WaitGroup
	for host, as := range hosts {
		both.Go(func() {
			if a := k.Do(t, isptest.At(host, isptest.Post(as, "/users", newcomer("nia@new.test")))); a.Status != 201 {
				t.Errorf("%s: %d %s", host, a.Status, a.Body)
			}
		})
	}
	both.Wait()
}

func TestOrganizations_CreatedWithAnAdministrator(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	root := k.SignIn(t, apitest.Domain, isptest.RootEmail).AccessToken
	create := func(slug, email string) apitest.Request {
		return isptest.At(apitest.Domain, isptest.Post(root, "/orgs", map[string]any{
			"slug": slug, "name": "Net " + slug,
			"admin": map[string]any{"email": email, "firstName": "Boss", "temporaryPassword": "for the first day"},
		}))
	}
	var org struct {
		ID, Slug, Name, Timezone, Currency, Country, InvoicePrefix, Status string
	}
	a := k.Want(t, 201, "", create("acme-two", "boss@two.test"))
	a.Into(t, &org)
	if org.InvoicePrefix != "ACMETW" || org.Timezone != "Africa/Nairobi" || org.Currency != "KES" ||
		org.Country != "KE" || org.Status != "active" || a.Header.Get("ETag") == "" {
		t.Errorf("%s", a.Body)
	}
	host := "acme-two." + apitest.Domain
	var in isptest.SignedIn
	k.Login(t, host, "boss@two.test", "for the first day").Into(t, &in)
	if in.User.Role != "admin" || !in.MustChangePassword {
		t.Fatalf("administrator: %+v", in)
	}
	for i, prefix := range []string{"ACMET2", "ACMET3"} { // their slugs begin alike
		k.Want(t, 201, "", create([]string{"acmetwo", "acme-twist-twice"}[i], "boss@two.test")).Into(t, &org)
		if i == 0 && org.InvoicePrefix != prefix {
			t.Errorf("prefix %s, want %s", org.InvoicePrefix, prefix)
		}
	}
	k.Want(t, 409, "slug_taken", create("acme", "x@two.test"))
	for _, bad := range []string{"www", "Acme", "a_b", "-a", "a-", "xn--e1aybc", strings.Repeat("a", 64)} {
		if a := k.Do(t, create(bad, "x@two.test")); a.Status != 422 || !strings.Contains(string(a.Body), "slug") {
			t.Errorf("%s: %d %s", bad, a.Status, a.Body)
		}
	}
	k.Want(t, 422, "invalid_input", create("good", "no address"))
	// no half-made organization is left
	k.Want(t, 404, "not_found", isptest.At("good."+apitest.Domain, isptest.Get("", "/auth/me")))
	k.Want(t, 201, "", create("good", "x@two.test"))
}

func TestOrganizations_SuspensionEndsEverybodysAccessAtOnce(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	root, admin := k.SignIn(t, apitest.Domain, isptest.RootEmail).AccessToken,
		k.SignIn(t, apitest.Acme, isptest.AdminEmail)
	path := "/orgs/" + k.Acme.String()
	k.Want(t, 422, "invalid_input",
		isptest.At(apitest.Domain, isptest.Post(root, path+"/suspend", map[string]string{"reason": " "})))
	k.Want(t, 400, "missing_field", isptest.At(apitest.Domain, isptest.Post(root, path+"/suspend", nil)))
	k.Want(t, 200, "", isptest.At(apitest.Domain,
		isptest.Post(root, path+"/suspend", map[string]string{"reason": "unpaid"})))
	k.Want(t, 403, "organization_suspended", isptest.Get(admin.AccessToken, "/auth/me"))
	k.Want(t, 403, "organization_suspended", isptest.Post("", "/auth/refresh", map[string]string{
		"refreshToken": admin.RefreshToken,
	}))
	if a := k.Login(t, apitest.Acme, isptest.AdminEmail, isptest.RightPassword); a.Status != 403 {
		t.Errorf("login: %d", a.Status)
	}
	k.Want(t, 200, "", isptest.At(apitest.Domain,
		isptest.Post(root, path+"/resume", map[string]string{"reason": "paid"})))
	k.Want(t, 200, "", isptest.Get(admin.AccessToken, "/auth/me"))
	k.Want(t, 404, "organization_not_found",
		isptest.At(apitest.Domain, isptest.Get(root, "/orgs/"+id.New[id.Organization]().String())))
	k.Want(t, 404, "organization_not_found",
		isptest.At(apitest.Domain, isptest.Post(root, "/orgs/x/suspend", map[string]string{"reason": "x"})))
	var detail struct {
		Subscribers, Staff, Routers int
		LastSignInAt                *time.Time
	}
	k.Want(t, 200, "", isptest.At(apitest.Domain, isptest.Get(root, path))).Into(t, &detail)
	if detail.Staff == 0 || detail.LastSignInAt == nil || detail.Routers != 0 {
		t.Errorf("figures %+v", detail)
	}
	for query, want := range map[string]int{
		"status=active&q=ACM": 1, "status=suspended": 0, "q=nobody": 0,
	} {
		var found struct{ Data []struct{ Slug string } }
		k.Want(t, 200, "", isptest.At(apitest.Domain, isptest.Get(root, "/orgs?"+query))).Into(t, &found)
		if len(found.Data) != want {
			t.Errorf("%s: %+v", query, found.Data)
		}
	}
	k.Want(t, 422, "invalid_input", isptest.At(apitest.Domain, isptest.Get(root, "/orgs?status=gone")))
	var page struct {
		Data    []struct{ Slug string }
		HasMore bool
	}
	k.Want(t, 200, "", isptest.At(apitest.Domain, isptest.Get(root, "/orgs?limit=1"))).Into(t, &page)
	if len(page.Data) != 1 || !page.HasMore {
		t.Errorf("page %+v", page)
	}
}

// put is a PUT of Acme's settings.
func put(as string, body any) apitest.Request {
	return apitest.Request{Method: "PUT", Path: "/settings/organization", As: as, Body: body}
}

func TestSettings_ChangeWhatIsGiven(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin, support := k.Admin(t), k.SignIn(t, apitest.Acme, isptest.SupportEmail).AccessToken
	before := k.Want(t, 200, "", isptest.Get(support, "/settings/organization"))
	k.Want(t, 403, "role_required", put(support, map[string]any{"name": "X"}))
	same := k.Want(t, 200, "", put(admin, map[string]any{}))
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
	k.Want(t, 200, "", put(admin, map[string]any{
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
	for _, zone := range []string{"localtime", "Factory", "right/Africa/Nairobi", "Africa/./Nairobi"} {
		k.Want(t, 422, "invalid_input", put(admin, map[string]any{"timezone": zone})) // no names of IANA
	}
	k.Want(t, 409, "currency_fixed", put(admin, map[string]any{"currency": "UGX"}))
	// its invoice numbers would look like phone numbers
	k.Want(t, 422, "invalid_input", put(admin, map[string]any{"invoicePrefix": "071234"}))
	k.Want(t, 409, "invoice_prefix_taken", put(admin, map[string]any{"invoicePrefix": "OTHER"}))
	r := put(admin, map[string]any{"taxPin": "P051234567X"})
	r.Header = map[string]string{"If-Match": `"0"`}
	k.Want(t, 412, "stale_revision", r)
}

func TestSettings_AUsedInvoicePrefixIsNeverAnothers(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin, olga := k.Admin(t), k.SignIn(t, apitest.Other, isptest.OlgaEmail).AccessToken
	k.Want(t, 200, "", put(admin, map[string]any{"invoicePrefix": "NET"}))
	k.Want(t, 409, "invoice_prefix_taken", isptest.At(apitest.Other, put(olga, map[string]any{
		"invoicePrefix": "ACME",
	})))
	k.Want(t, 200, "", put(admin, map[string]any{"invoicePrefix": "ACME"})) // it had this prefix before
}

func TestSettings_ChangesOfDifferentFieldsAtOnceBothCount(t *testing.T) {
	t.Parallel()
	k := newISPKit(t)
	admin := k.Admin(t)
	var both sync.WaitGroup
	for _, body := range []map[string]any{
		{"taxPin": "P051234567X"}, {"timezone": "Africa/Kampala"}, {"country": "UG"},
	} {
		both.Go(func() {
			if a := k.Do(t, put(admin, body)); a.Status != 200 {
				t.Errorf("%v: %d %s", body, a.Status, a.Body)
			}
		})
	}
	both.Wait()
	var s struct{ TaxPIN, Timezone, Country string }
	k.Want(t, 200, "", isptest.Get(admin, "/settings/organization")).Into(t, &s)
	if s.TaxPIN != "P051234567X" || s.Timezone != "Africa/Kampala" || s.Country != "UG" {
		t.Errorf("one was lost: %+v", s)
	}
}
