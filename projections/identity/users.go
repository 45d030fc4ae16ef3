package identityviews

import (
	_ "embed"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// UsersName is the projection's durable name.
const UsersName = "identity_users"

// Users lists people who can sign in, platform-wide (users), and who may act in an organization (members).
type Users struct{}

//go:embed users.sql
var usersDDL string

// Name is the durable name.
func (Users) Name() string { return UsersName }

// Version is raised when tables or Apply change.
func (Users) Version() int { return 2 }

// DDL creates the tables.
func (Users) DDL() string { return usersDDL }

// TenantTables are under row-level security; users is the platform's alone.
func (Users) TenantTables() []string { return []string{"members"} }

// Handles lists the events.
func (Users) Handles() []string {
	return []string{
		events.UserRegistered{}.EventType(), events.UserDetailsCorrected{}.EventType(),
		events.MembershipGranted{}.EventType(), events.MembershipDetailsCorrected{}.EventType(),
		events.MembershipAccepted{}.EventType(), events.MembershipRoleAssigned{}.EventType(),
		events.MembershipDisabled{}.EventType(), events.MembershipEnabled{}.EventType(),
		events.PasswordChanged{}.EventType(), events.UserForgotten{}.EventType(),
	}
}

// Apply queues the statements for one event. A member's personal columns are what the organization knows of the user,
// so that a tenant's list reads one table under its policy and a pending member gives nothing away. A member's row
// takes each event once: what it does may depend on the row.
func (Users) Apply(w *runner.Writes, e events.Envelope) error {
	switch v := e.Event.(type) {
	case events.UserRegistered:
		w.Exec(`insert into {schema}.users (user_id, email, phone, first_name, last_name, super_admin, must_change_password, registered_at)
			values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (user_id) do nothing`,
			v.UserID, v.Email.Reveal(), v.Phone.Reveal(), v.FirstName.Reveal(), v.LastName.Reveal(), v.SuperAdmin,
			v.MustChangePassword, v.RegisteredAt)
	case events.UserDetailsCorrected:
		w.Exec(`update {schema}.users set phone = $2, first_name = $3, last_name = $4 where user_id = $1`,
			v.UserID, v.Phone.Reveal(), v.FirstName.Reveal(), v.LastName.Reveal())
		w.Exec(`update {schema}.members set phone = $2, first_name = $3, last_name = $4, revision = $5
				where user_id = $1 and not pending and revision <= $5`,
			v.UserID, v.Phone.Reveal(), v.FirstName.Reveal(), v.LastName.Reveal(), int64(e.Revision))
	case events.MembershipGranted:
		w.Exec(`insert into {schema}.members (org_id, user_id, email, phone, first_name, last_name, role, pending, must_change_password, member_since, revision)
			select $1, user_id, $3, $4, $5, $6, $7, $8, must_change_password, $9, $10
			from {schema}.users where user_id = $2 on conflict (org_id, user_id) do nothing`,
			v.OrgID, v.UserID, v.Email.Reveal(), v.Phone.Reveal(), v.FirstName.Reveal(), v.LastName.Reveal(),
			string(v.Role), v.Pending, v.At, int64(e.Revision))
	case events.MembershipDetailsCorrected:
		w.Exec(`update {schema}.members set phone = $3, first_name = $4, last_name = $5, revision = $6
				where org_id = $1 and user_id = $2 and revision <= $6`,
			v.OrgID, v.UserID, v.Phone.Reveal(), v.FirstName.Reveal(), v.LastName.Reveal(), int64(e.Revision))
	case events.MembershipAccepted:
		w.Exec(`update {schema}.members set pending = false, revision = $3
				where org_id = $1 and user_id = $2 and revision <= $3`, v.OrgID, v.UserID, int64(e.Revision))
	case events.MembershipRoleAssigned:
		w.Exec(`update {schema}.members set role = $3, revision = $4
				where org_id = $1 and user_id = $2 and revision <= $4`, v.OrgID, v.UserID, string(v.Role),
			int64(e.Revision))
	case events.MembershipDisabled:
		w.Exec(`update {schema}.members set disabled = true, revision = $3
				where org_id = $1 and user_id = $2 and revision <= $3`, v.OrgID, v.UserID, int64(e.Revision))
	case events.MembershipEnabled:
		w.Exec(`update {schema}.members set disabled = false, revision = $3
				where org_id = $1 and user_id = $2 and revision <= $3`, v.OrgID, v.UserID, int64(e.Revision))
	case events.UserForgotten:
		w.Exec(`update {schema}.users set email = '', super_admin = false, phone = '', first_name = '', last_name = '' where user_id = $1`, v.UserID)
		w.Exec(`update {schema}.members set disabled = true, email = '', phone = '', first_name = '', last_name = '', revision = $2 where user_id = $1`,
			v.UserID, int64(e.Revision))
	case events.PasswordChanged:
		w.Exec(`update {schema}.users set must_change_password = false where user_id = $1`, v.UserID)
		w.Exec(`update {schema}.members set must_change_password = false where user_id = $1`, v.UserID)
	}
	return nil
}
