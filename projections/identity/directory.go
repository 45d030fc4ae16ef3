package identityviews

import (
	"slices"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// sessionMemory is how long the end of a session is remembered. It is longer than the life of an access token (15
// minutes: docs/rules/identity.md#token-lifetimes).
const sessionMemory = 20 * time.Minute

// Directory answers the questions of every request: the organization of a host, the present rights of a user or an API
// key, and whether a session has ended. It is a model in memory, filled from the log at start. Safe for concurrent use.
type Directory struct {
	mu            sync.RWMutex
	organizations map[id.Organization]*directoryOrganization
	bySlug        map[string]*directoryOrganization
	users         map[id.User]*directoryUser
	ended         map[id.Session]time.Time
	lastSweep     time.Time
	apiKeys       directoryKeys
}

// directoryOrganization is the part of an organization that requests need.
type directoryOrganization struct {
	id         id.Organization
	slug, name string
	suspended  bool
	seated     bool // its administrators are counted
	factor     bool // its staff needs a second factor
}

// directoryUser is the part of a user that requests need.
type directoryUser struct {
	superAdmin         bool
	mustChangePassword bool
	secondFactor       id.SecondFactor // zero = there is none
	home               id.Organization // that registered the user
	apart              bool            // the address is unique within home only; without it nobody enters
	proven             bool
	memberships        map[id.Organization]directoryMembership
}

// directoryMembership has the rights of a user in one organization; a pending or disabled one gives none.
type directoryMembership struct {
	role     events.Role
	pending  bool
	disabled bool
	own      []id.Subscriber // of a customer, in the order in which they came; never changed in place
	lapsed   bool            // the last of them is gone
}

// enters reports whether a membership gives rights at present. While the address of the user is unproven, only that of
// the registering organization does (docs/rules/identity.md#proven-addresses).
func (u *directoryUser) enters(org id.Organization, m directoryMembership) bool {
	return !m.pending && !m.disabled && (u.home == org || u.proven) && !(m.lapsed && m.role == events.RoleSubscriber)
}

// sees adds a subscriber to what a customer sees, or takes it away, in a new list.
func (m *directoryMembership) sees(subscriber id.Subscriber, now bool) {
	own := slices.DeleteFunc(slices.Clone(m.own), func(s id.Subscriber) bool { return s == subscriber })
	if now {
		own = append(own, subscriber)
	}
	m.own, m.lapsed = own, len(own) == 0
}

// NewDirectory makes an empty directory; runner.Memory fills it.
func NewDirectory() *Directory {
	return &Directory{
		organizations: map[id.Organization]*directoryOrganization{}, bySlug: map[string]*directoryOrganization{},
		users: map[id.User]*directoryUser{}, ended: map[id.Session]time.Time{}, apiKeys: newDirectoryKeys(),
	}
}

// DirectoryName is the name by which the API waits for the directory, as for a projection; /readyz shows it too.
const DirectoryName = "identity_directory"

// Name keys no checkpoint: the directory is filled from the start of the log each time.
func (d *Directory) Name() string { return DirectoryName }

// Handles lists the events that change the directory.
func (d *Directory) Handles() []string {
	return []string{
		events.OrganizationCreated{}.EventType(), events.OrganizationRenamed{}.EventType(),
		events.OrganizationSuspended{}.EventType(), events.OrganizationResumed{}.EventType(),
		events.AdministratorSeated{}.EventType(), events.UserRegistered{}.EventType(),
		events.AddressKeptApart{}.EventType(), events.AddressProven{}.EventType(),
		events.MembershipGranted{}.EventType(),
		events.MembershipAccepted{}.EventType(), events.MembershipRoleAssigned{}.EventType(),
		events.MembershipDisabled{}.EventType(), events.MembershipEnabled{}.EventType(),
		events.PasswordChanged{}.EventType(), events.TemporaryPasswordGiven{}.EventType(),
		events.PortalAccessGiven{}.EventType(), events.PortalAccessEnded{}.EventType(),
		events.SessionEnded{}.EventType(), events.UserForgotten{}.EventType(),
		events.APIKeyIssued{}.EventType(), events.APIKeyRotated{}.EventType(), events.APIKeyRevoked{}.EventType(),
		events.SecondFactorEnrolled{}.EventType(), events.SecondFactorRemoved{}.EventType(),
		events.SecondFactorRequired{}.EventType(), events.SecondFactorMadeOptional{}.EventType(),
	}
}

// Apply changes the directory by one event.
func (d *Directory) Apply(e events.Envelope) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch v := e.Event.(type) {
	case events.OrganizationCreated:
		o := &directoryOrganization{id: v.OrgID, slug: v.Slug, name: v.Name}
		d.organizations[v.OrgID], d.bySlug[v.Slug] = o, o
	case events.OrganizationRenamed:
		d.organization(v.OrgID).name = v.Name
	case events.OrganizationSuspended:
		d.organization(v.OrgID).suspended = true
	case events.OrganizationResumed:
		d.organization(v.OrgID).suspended = false
	case events.AdministratorSeated:
		d.organization(v.OrgID).seated = true
	case events.AddressKeptApart:
		d.user(v.UserID).apart = true
	case events.AddressProven:
		u := d.user(v.UserID)
		u.proven, u.mustChangePassword = true, false
	case events.UserRegistered:
		u := d.user(v.UserID)
		u.superAdmin, u.mustChangePassword = v.SuperAdmin, v.MustChangePassword
	case events.MembershipGranted:
		u := d.user(v.UserID)
		if len(u.memberships) == 0 {
			u.home = v.OrgID
		}
		u.memberships[v.OrgID] = directoryMembership{role: v.Role, pending: v.Pending}
	case events.MembershipAccepted:
		d.change(v.UserID, v.OrgID, func(m *directoryMembership) { m.pending = false })
	case events.MembershipDisabled:
		d.change(v.UserID, v.OrgID, func(m *directoryMembership) { m.disabled = true })
	case events.MembershipEnabled:
		d.change(v.UserID, v.OrgID, func(m *directoryMembership) { m.disabled = false })
	case events.MembershipRoleAssigned:
		d.change(v.UserID, v.OrgID, func(m *directoryMembership) { m.role = v.Role })
	case events.PortalAccessGiven, events.PortalAccessEnded:
		d.portal(v)
	case events.UserForgotten:
		delete(d.users, v.UserID)
	case events.PasswordChanged:
		d.user(v.UserID).mustChangePassword = false
	case events.TemporaryPasswordGiven:
		d.user(v.UserID).mustChangePassword = true
	case events.SecondFactorEnrolled, events.SecondFactorRemoved, events.SecondFactorRequired,
		events.SecondFactorMadeOptional:
		d.factor(v)
	case events.SessionEnded:
		d.ended[v.SessionID] = v.At
		d.sweep(v.At)
	case events.APIKeyIssued:
		d.apiKeys.issued(v)
	case events.APIKeyRotated:
		d.apiKeys.rotated(v)
	case events.APIKeyRevoked:
		d.apiKeys.revoked(v)
	}
}

// portal follows what customers see. The caller holds the lock.
func (d *Directory) portal(e events.Event) {
	switch v := e.(type) {
	case events.PortalAccessGiven:
		d.change(v.UserID, v.OrgID, func(m *directoryMembership) { m.sees(v.SubscriberID, true) })
	case events.PortalAccessEnded:
		d.change(v.UserID, v.OrgID, func(m *directoryMembership) { m.sees(v.SubscriberID, false) })
	}
}

// factor follows second factors, and who needs one. The caller holds the lock.
func (d *Directory) factor(e events.Event) {
	switch v := e.(type) {
	case events.SecondFactorEnrolled:
		d.user(v.UserID).secondFactor = v.FactorID
	case events.SecondFactorRemoved:
		d.user(v.UserID).secondFactor = id.SecondFactor{}
	case events.SecondFactorRequired:
		d.organization(v.OrgID).factor = true
	case events.SecondFactorMadeOptional:
		d.organization(v.OrgID).factor = false
	}
}

// organization finds the entry of an organization and makes it when it is missing. The caller holds the lock.
func (d *Directory) organization(org id.Organization) *directoryOrganization {
	o, ok := d.organizations[org]
	if !ok {
		o = &directoryOrganization{id: org}
		d.organizations[org] = o
	}
	return o
}

// user finds the entry of a user and makes it when it is missing. The caller holds the lock.
func (d *Directory) user(user id.User) *directoryUser {
	u, ok := d.users[user]
	if !ok {
		u = &directoryUser{memberships: map[id.Organization]directoryMembership{}}
		d.users[user] = u
	}
	return u
}

// change edits a copy of a membership and stores it; a missing one begins as the zero value. The caller holds the lock.
func (d *Directory) change(user id.User, org id.Organization, edit func(*directoryMembership)) {
	u := d.user(user)
	m := u.memberships[org]
	edit(&m)
	u.memberships[org] = m
}

// sweep removes sessions whose access tokens have expired, at most once a minute of the log's time. The caller holds
// the lock.
func (d *Directory) sweep(now time.Time) {
	if now.Sub(d.lastSweep) < time.Minute {
		return
	}
	d.lastSweep = now
	for session, at := range d.ended {
		if now.Sub(at) > sessionMemory {
			delete(d.ended, session)
		}
	}
}

// Tenant is the organization that a host name stands for.
type Tenant struct {
	ID         id.Organization
	Slug, Name string
	Suspended  bool
}

// BySlug finds an organization by the first label of its host; false when there is none.
func (d *Directory) BySlug(slug string) (Tenant, bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	o, ok := d.bySlug[slug]
	if !ok {
		return Tenant{}, false
	}
	return Tenant{ID: o.id, Slug: o.slug, Name: o.name, Suspended: o.suspended}, true
}

// Standing has the present rights of a user in one place.
type Standing struct {
	Role               events.Role // never "" when known
	MustChangePassword bool
	// Own are the subscribers that a user with the role subscriber sees; others have none. Nobody changes it.
	Own            []id.Subscriber
	SecondFactor   id.SecondFactor // zero = the user has none
	FactorRequired bool            // the organization requires one of its staff, of which the user is
}

// Standing returns a user's rights in an organization; a zero organization is the root host. It returns false when the
// user has no rights there or the session has ended. A super_admin has rights everywhere. A user of before records were
// kept apart, whom the upgrade could not keep apart, has none.
func (d *Directory) Standing(user id.User, org id.Organization, session id.Session) (Standing, bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.standing(user, org, session)
}

// standing is Standing for a caller who holds the lock.
func (d *Directory) standing(user id.User, org id.Organization, session id.Session) (Standing, bool) {
	u, ok := d.users[user]
	if !ok {
		return Standing{}, false
	}
	if _, over := d.ended[session]; over && !session.IsZero() {
		return Standing{}, false
	}
	if u.superAdmin {
		return Standing{
			Role: events.RoleSuperAdmin, MustChangePassword: u.mustChangePassword, SecondFactor: u.secondFactor,
		}, true
	}
	m, member := u.memberships[org]
	if !member || org.IsZero() || !u.apart || !u.enters(org, m) {
		return Standing{}, false
	}
	o, found := d.organizations[org]
	standing := Standing{
		Role: m.role, MustChangePassword: u.mustChangePassword, SecondFactor: u.secondFactor,
		FactorRequired: found && o.factor && m.role.AtLeast(events.RoleSupport),
	}
	if m.role == events.RoleSubscriber {
		standing.Own = m.own
	}
	return standing, true
}

// Seat is a user who is an administrator of an organization.
type Seat struct {
	OrgID  id.Organization
	UserID id.User
}

// Unsettled lists what was recorded before addresses were kept apart by organization and administrators were counted:
// users who hold their address on the whole platform, and the administrators of organizations that count none.
func (d *Directory) Unsettled() (users []id.User, seats []Seat) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	for user, u := range d.users {
		if !u.apart && !u.superAdmin && len(u.memberships) > 0 {
			users = append(users, user)
		}
		for org, m := range u.memberships {
			if o, ok := d.organizations[org]; ok && !o.seated && m.role == events.RoleAdmin && u.enters(org, m) {
				seats = append(seats, Seat{OrgID: org, UserID: user})
			}
		}
	}
	return users, seats
}
