package identityviews_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore/feed/feedtest"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/runner/projectiontest"
)

// The people and organizations of these tests: Ada works for Acme, Olga for Other and later for Acme as well; the
// others were forgotten.
var (
	began = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	acme  = id.Derive[id.Organization]("test", "acme")
	other = id.Derive[id.Organization]("test", "other")
	ada   = id.Derive[id.User]("test", "ada")
	olga  = id.Derive[id.User]("test", "olga")
	olga2 = id.Derive[id.User]("test", "olga at acme")
	gone  = id.Derive[id.User]("test", "gone")
	gone2 = id.Derive[id.User]("test", "gone2")
	wanja = id.Derive[id.User]("test", "wanja")
	house = id.Derive[id.Subscriber]("test", "house")
	shop  = id.Derive[id.Subscriber]("test", "shop")
	text  = personal.Of
)

// billing returns the settings of a new organization.
func billing(prefix string) events.BillingSettings {
	return events.BillingSettings{Timezone: "Africa/Nairobi", Currency: money.KES, Country: "KE", InvoicePrefix: prefix}
}

// organizations creates Acme and Other, renames and suspends.
func organizations() []events.Event {
	return []events.Event{
		events.OrganizationCreated{OrgID: acme, Slug: "acme", Name: "Acme", Billing: billing("ACME"), CreatedAt: began},
		events.OrganizationCreated{
			OrgID: other, Slug: "other", Name: "Other", Billing: billing("OTHER"), CreatedAt: began.Add(time.Hour),
		},
		events.OrganizationRenamed{OrgID: acme, Name: "Acme Networks"},
		events.BillingSettingsAdopted{OrgID: acme, Billing: billing("NET")},
		events.OrganizationSuspended{OrgID: acme, Reason: "unpaid"},
		events.OrganizationResumed{OrgID: acme, Reason: "paid"},
		events.OrganizationSuspended{OrgID: other, Reason: "unpaid"},
		events.AdministratorSeated{OrgID: acme, UserID: ada}, events.AdministratorReleased{OrgID: acme, UserID: ada},
		events.InvoicePrefixReleased{OrgID: acme, Prefix: "ACME"},
		events.OrganizationLogoChosen{OrgID: acme, Digest: "0a"}, events.OrganizationLogoRemoved{OrgID: acme},
		events.OrganizationLogoChosen{OrgID: other, Digest: "0b"},
		events.SecondFactorRequired{OrgID: acme}, events.SecondFactorMadeOptional{OrgID: acme},
		events.SecondFactorRequired{OrgID: other},
	}
}

// adas is the history of Ada, a member of Acme.
func adas() []events.Event {
	return []events.Event{
		events.UserRegistered{
			UserID: ada, Email: text("ada@first.test"), Phone: text("+254700000001"), FirstName: text("Ada"),
			MustChangePassword: true, RegisteredAt: began,
		},
		events.AddressKeptApart{UserID: ada, OrgID: acme},
		events.MembershipGranted{
			UserID: ada, OrgID: acme, Role: events.RoleAdmin, Email: text("ada@first.test"), FirstName: text("Ada"),
			At: began,
		},
		events.PasswordChanged{UserID: ada, At: began},
		events.MembershipDisabled{UserID: ada, OrgID: acme, Reason: personal.Of("left")},
		events.MembershipEnabled{UserID: ada, OrgID: acme},
		events.MembershipRoleAssigned{UserID: ada, OrgID: acme, Role: events.RoleSupport},
		events.UserDetailsCorrected{
			UserID: ada, Phone: text("+254700000009"), FirstName: text("Adah"), LastName: text("Lovelace"),
		},
		events.TemporaryPasswordGiven{UserID: ada, OrgID: acme, At: began},
		events.SessionStarted{UserID: ada, OrgID: acme, Role: events.RoleSupport, At: began.Add(2 * time.Hour)},
		events.SessionStarted{UserID: ada, OrgID: acme, Role: events.RoleSupport, At: began.Add(time.Hour)},
		events.SecondFactorEnrolled{UserID: ada, At: began}, events.LoginEmailChanged{
			UserID: ada, Email: text("ada@acme.test"), At: began,
		},
		events.LoginPhoneChanged{UserID: ada, Phone: text("+254700000002"), At: began},
	}
}

// olgas is the history of Olga, a member of Other. Acme added her under another name before records were kept apart.
func olgas() []events.Event {
	return []events.Event{
		events.UserRegistered{
			UserID: olga, Email: text("olga@other.test"), FirstName: text("Olga"), RegisteredAt: began,
		},
		events.MembershipGranted{
			UserID: olga, OrgID: other, Role: events.RoleAdmin, Email: text("olga@other.test"), FirstName: text("Olga"),
			At: began,
		},
		events.MembershipGranted{
			UserID: olga, OrgID: acme, Role: events.RoleSupport, Pending: true, Email: text("olga@other.test"),
			FirstName: text("Helga"), At: began.Add(time.Hour),
		},
		events.MembershipDetailsCorrected{UserID: olga, OrgID: acme, FirstName: text("Helge")},
		events.UserDetailsCorrected{UserID: olga, FirstName: text("Olga Maria")},
		events.MembershipDisabled{UserID: olga, OrgID: acme, Reason: personal.Of("a slip")},
		events.MembershipEnabled{UserID: olga, OrgID: acme},
		events.SecondFactorEnrolled{UserID: olga, At: began}, events.SecondFactorRemoved{UserID: olga, At: began},
	}
}

// newerOlgas is a user of Acme with Olga's address, which is proven in the end.
func newerOlgas() []events.Event {
	return []events.Event{
		events.UserRegistered{
			UserID: olga2, Email: text("olga@other.test"), FirstName: text("Olly"), MustChangePassword: true,
			RegisteredAt: began.Add(2 * time.Hour),
		},
		events.AddressKeptApart{UserID: olga2, OrgID: acme},
		events.MembershipGranted{
			UserID: olga2, OrgID: acme, Role: events.RoleSupport, Email: text("olga@other.test"),
			FirstName: text("Olly"), At: began.Add(2 * time.Hour),
		},
		events.AddressProven{UserID: olga2, PersonID: olga, At: began.Add(3 * time.Hour)},
	}
}

// customers is the history of a user of the portal, who has lost one of two subscribers.
func customers() []events.Event {
	return []events.Event{
		events.UserRegistered{
			UserID: wanja, Phone: text("+254700000005"), FirstName: text("Wanja"), RegisteredAt: began,
		},
		events.AddressKeptApart{UserID: wanja, OrgID: acme},
		events.MembershipGranted{
			UserID: wanja, OrgID: acme, Role: events.RoleSubscriber, Phone: text("+254700000005"),
			FirstName: text("Wanja"), At: began,
		},
		events.PortalAccessGiven{UserID: wanja, OrgID: acme, SubscriberID: house, At: began},
		events.PortalAccessGiven{UserID: wanja, OrgID: acme, SubscriberID: shop, At: began.Add(time.Hour)},
		events.PortalAccessEnded{UserID: wanja, OrgID: acme, SubscriberID: house, At: began.Add(2 * time.Hour)},
	}
}

// forgotten is the history of an erased person. The key is destroyed, so a replay finds no personal text in any event.
func forgotten(user id.User) []events.Event {
	return []events.Event{
		events.UserRegistered{UserID: user, RegisteredAt: began},
		events.MembershipGranted{UserID: user, OrgID: acme, Role: events.RoleSupport, At: began},
		events.PortalAccessGiven{UserID: user, OrgID: acme, SubscriberID: house, At: began},
		events.UserForgotten{UserID: user, Reason: "asked for it"},
	}
}

// story appends the histories of both organizations and of all users.
func story() *projectiontest.Story {
	return projectiontest.NewStory(acme, began).Add("organization-1", organizations()...).Add("user-1",
		adas()...).Add("user-2", olgas()...).
		Add("user-3", forgotten(gone)...).Add("user-4", forgotten(gone2)...).
		Add("user-5", newerOlgas()...).Add("user-6", customers()...).Add("apikey-1", keyEvents()...).
		Add("apikey-2", backupEvents()...)
}

func TestReadModels_StoryEndsInTheseRows(t *testing.T) {
	t.Parallel()
	for _, p := range []runner.Projection{
		identityviews.Organizations{}, identityviews.Users{}, identityviews.Letterheads{}, identityviews.APIKeys{},
	} {
		t.Run(p.Name(), func(t *testing.T) {
			t.Parallel()
			projectiontest.Check(t, p, story())
		})
	}
}

// started returns queries that show the whole story, and more events after it.
func started(t *testing.T, more ...events.Event) (identityviews.OrganizationsQuery, identityviews.UsersQuery) {
	t.Helper()
	log := feedtest.New()
	r := runner.New(runner.Config{Feed: feedtest.Start(t, log), DB: pgtest.New(t), Clock: clock.NewManual(began)})
	r.Register(identityviews.Organizations{}, identityviews.Users{})
	if err := r.Start(t.Context()); err != nil {
		t.Fatalf("start read models: %v", err)
	}
	t.Cleanup(r.Stop)
	for _, list := range [][]events.Event{organizations(), adas(), olgas(), forgotten(gone), forgotten(gone2), more} {
		log.Append(events.Metadata{OrgID: acme, At: began}, list...)
	}
	head, _ := log.Head(t.Context())
	for _, name := range []string{identityviews.OrganizationsName, identityviews.UsersName} {
		coretest.WaitFor(t, r.Views(), head, name)
	}
	return identityviews.OrganizationsQuery{Views: r.Views()}, identityviews.UsersQuery{Views: r.Views()}
}

func TestUsers_EachOrganizationSeesItsOwn(t *testing.T) {
	t.Parallel()
	orgs, users := started(t)
	ctx := t.Context()
	names := map[id.Organization][]string{}
	for _, org := range []id.Organization{acme, other} {
		rows, err := users.Members(ctx, org, identityviews.MemberFilter{}, identityviews.MemberKey{}, 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			if r.OrgID != org {
				t.Errorf("%s sees a row of %s", org, r.OrgID)
			}
			names[org] = append(names[org], r.FirstName+" "+r.Status)
		}
	}
	if len(names[acme]) != 4 || names[acme][0] != "Helge pending" || len(names[other]) != 1 ||
		names[other][0] != "Olga Maria active" {
		t.Errorf("members %v", names)
	}
	if row, err := users.Member(ctx, other, ada); row != nil || err != nil {
		t.Errorf("another organization's member: %+v, %v", row, err)
	}
	if row, err := users.Member(ctx, acme, id.User{}); row != nil || err != nil {
		t.Errorf("nobody: %+v, %v", row, err)
	}
	_, err := users.Members(ctx, id.Organization{}, identityviews.MemberFilter{}, identityviews.MemberKey{}, 1)
	if err == nil {
		t.Error("a read without an organization must fail")
	}
	for email, want := range map[string]id.User{
		"ada@acme.test": ada, "Ada@acme.test": {}, "": {}, "nobody@acme.test": {},
	} {
		rows, err := users.OfAddress(ctx, email)
		if err != nil || len(rows) == 0 != want.IsZero() || len(rows) > 0 && rows[0].ID != want {
			t.Errorf("%q: %+v, %v", email, rows, err)
		}
	}
	list, err := orgs.List(ctx, identityviews.OrganizationFilter{}, identityviews.OrganizationKey{}, 1)
	if err != nil || len(list) != 1 || list[0].ID != other || !list[0].Suspended {
		t.Fatalf("newest: %+v, %v", list, err)
	}
	list, err = orgs.List(ctx, identityviews.OrganizationFilter{},
		identityviews.OrganizationKey{CreatedAt: list[0].CreatedAt, ID: other}, 10)
	if err != nil || len(list) != 1 || list[0].ID != acme || list[0].Billing.InvoicePrefix != "NET" {
		t.Errorf("next page: %+v, %v", list, err)
	}
}

// TestMembers_AreFoundByRoleStatusAndText: in any case, and by what the organization itself knows.
func TestMembers_AreFoundByRoleStatusAndText(t *testing.T) {
	t.Parallel()
	_, users := started(t)
	for name, c := range map[string]struct {
		filter identityviews.MemberFilter
		want   []id.User
	}{
		"support":            {identityviews.MemberFilter{Role: events.RoleSupport}, []id.User{olga, ada}},
		"a name":             {identityviews.MemberFilter{Text: "ADAH lov"}, []id.User{ada}},
		"an address":         {identityviews.MemberFilter{Text: "@other"}, []id.User{olga}},
		"a phone":            {identityviews.MemberFilter{Text: "0002"}, []id.User{ada}},
		"a name elsewhere":   {identityviews.MemberFilter{Text: "Olga Maria"}, nil},
		"no pattern":         {identityviews.MemberFilter{Text: "%"}, nil},
		"invited":            {identityviews.MemberFilter{Status: "invited"}, []id.User{olga, ada}},
		"invited customers":  {identityviews.MemberFilter{Status: "invited", Role: "subscriber"}, nil},
		"active and support": {identityviews.MemberFilter{Status: "active", Role: events.RoleSupport}, nil},
	} {
		rows, err := users.Members(t.Context(), acme, c.filter, identityviews.MemberKey{}, 100)
		var got []id.User
		for _, row := range rows {
			if row.Role != "" && row.FirstName != "" {
				got = append(got, row.ID)
			}
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %+v, %v", name, rows, err)
		}
	}
	row, err := users.Member(t.Context(), acme, ada)
	if err != nil || row.LastSignInAt == nil || !row.LastSignInAt.Equal(began.Add(2*time.Hour)) {
		t.Errorf("the last sign-in is the latest one: %+v, %v", row, err)
	}
	if row, err := users.Member(t.Context(), other, olga); err != nil || row.LastSignInAt != nil {
		t.Errorf("nobody signed in at the other organization: %+v, %v", row, err)
	}
	if s, err := users.Summary(t.Context(), acme); err != nil || s.Staff != 2 || s.LastSignInAt == nil {
		t.Errorf("summary %+v, %v", s, err)
	}
}

// TestOrganizations_AreFoundByStateAndText: by a part of the name or of the slug.
func TestOrganizations_AreFoundByStateAndText(t *testing.T) {
	t.Parallel()
	orgs, _ := started(t)
	for name, c := range map[string]struct {
		filter identityviews.OrganizationFilter
		want   []id.Organization
	}{
		"suspended": {identityviews.OrganizationFilter{Suspended: new(true)}, []id.Organization{other}},
		"active":    {identityviews.OrganizationFilter{Suspended: new(false)}, []id.Organization{acme}},
		"a name":    {identityviews.OrganizationFilter{Text: "NETworks"}, []id.Organization{acme}},
		"a slug":    {identityviews.OrganizationFilter{Text: "oth"}, []id.Organization{other}},
		"neither":   {identityviews.OrganizationFilter{Text: "acme", Suspended: new(true)}, nil},
	} {
		rows, err := orgs.List(t.Context(), c.filter, identityviews.OrganizationKey{}, 10)
		var got []id.Organization
		for _, row := range rows {
			got = append(got, row.ID)
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

func TestMembers_PagesVisitEachOnce(t *testing.T) {
	t.Parallel()
	_, users := started(t)
	seen := map[id.User]int{}
	for after := (identityviews.MemberKey{}); ; {
		rows, err := users.Members(t.Context(), acme, identityviews.MemberFilter{}, after, 1)
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) == 0 {
			break
		}
		seen[rows[0].ID]++
		after = identityviews.MemberKey{MemberSince: rows[0].MemberSince, ID: rows[0].ID}
	}
	if diff := cmp.Diff(map[id.User]int{ada: 1, olga: 1, gone: 1, gone2: 1}, seen); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestUsers_AnAddressAtAHostIsThatOfItsOrganization(t *testing.T) {
	t.Parallel()
	log := feedtest.New()
	r := runner.New(runner.Config{Feed: feedtest.Start(t, log), DB: pgtest.New(t), Clock: clock.NewManual(began)})
	r.Register(identityviews.Users{})
	if err := r.Start(t.Context()); err != nil {
		t.Fatalf("start read models: %v", err)
	}
	t.Cleanup(r.Stop)
	users := identityviews.UsersQuery{Views: r.Views()}
	after := func(what string, want map[id.Organization]id.User, list ...events.Event) {
		t.Helper()
		log.Append(events.Metadata{OrgID: acme, At: began}, list...)
		head, _ := log.Head(t.Context())
		coretest.WaitFor(t, r.Views(), head, identityviews.UsersName)
		for org, user := range want {
			row, err := users.AtHost(t.Context(), org, "olga@other.test")
			if err != nil || (row == nil) != user.IsZero() || row != nil && row.ID != user {
				t.Errorf("%s: at %s %+v, %v", what, org, row, err)
			}
		}
	}
	after("invited elsewhere", map[id.Organization]id.User{acme: {}, other: olga, {}: {}}, olgas()...)
	newer := newerOlgas()
	after("two of one address", map[id.Organization]id.User{acme: olga2, other: olga}, newer[:3]...)
	after("proven", map[id.Organization]id.User{acme: olga2, other: olga}, newer[3],
		events.AddressProven{UserID: olga, PersonID: olga, At: began})
	if rows, err := users.OfPerson(t.Context(), olga); err != nil || len(rows) != 2 || rows[1].PasswordOf() != olga {
		t.Errorf("one person: %+v, %v", rows, err)
	}
	if rows, err := users.OfAddress(t.Context(), "olga@other.test"); err != nil || len(rows) != 2 ||
		rows[0].ID != olga {
		t.Errorf("one address: %+v, %v", rows, err)
	}
}

func TestUsers_AProvenPersonEntersWhereAnOlderMembershipIs(t *testing.T) {
	t.Parallel()
	_, users := started(t, events.AddressProven{UserID: olga, PersonID: olga, At: began})
	if row, err := users.AtHost(t.Context(), acme, "olga@other.test"); err != nil || row == nil || row.ID != olga {
		t.Errorf("%+v, %v", row, err)
	}
}
