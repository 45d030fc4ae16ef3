package identityviews

import (
	_ "embed"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// UsersName keys the projection's checkpoint and schemas, so it never changes.
const UsersName = "identity_users"

// Users lists those who can sign in, for the platform (users), and the members of each organization (members).
type Users struct{}

// usersDDL is compiled in from users.sql.
//
//go:embed users.sql
var usersDDL string

// Name keys checkpoint and schemas.
func (Users) Name() string { return UsersName }

// Version must grow with every change to the tables, to Apply, or to a constant that it stores.
func (Users) Version() int { return 8 }

// DDL creates the tables of users.sql.
func (Users) DDL() string { return usersDDL }

// TenantTables are under row-level security; only the platform reads the table users.
func (Users) TenantTables() []string { return []string{"members", "portal"} }

// Handles lists the events that change the tables.
func (Users) Handles() []string {
	return []string{
		events.UserRegistered{}.EventType(), events.UserDetailsCorrected{}.EventType(),
		events.AddressProven{}.EventType(),
		events.MembershipGranted{}.EventType(), events.MembershipDetailsCorrected{}.EventType(),
		events.MembershipAccepted{}.EventType(), events.MembershipRoleAssigned{}.EventType(),
		events.MembershipDisabled{}.EventType(), events.MembershipEnabled{}.EventType(),
		events.PasswordChanged{}.EventType(), events.TemporaryPasswordGiven{}.EventType(),
		events.PortalAccessGiven{}.EventType(), events.PortalAccessEnded{}.EventType(),
		events.UserForgotten{}.EventType(), events.SessionStarted{}.EventType(),
		events.LoginEmailChanged{}.EventType(), events.LoginPhoneChanged{}.EventType(),
		events.SecondFactorEnrolled{}.EventType(), events.SecondFactorRemoved{}.EventType(),
	}
}

// Statements of Apply with many columns. A member's row takes columns of the user's row, which is always inserted
// before.
const (
	registerSQL = `
insert into {schema}.users
	(user_id, email, phone, first_name, last_name, super_admin, must_change_password, temporary_until, registered_at)
values
	(@user, @email, @phone, @first_name, @last_name, @super_admin, @must_change, @until, @at)
on conflict (user_id) do nothing`
	grantSQL = `
insert into {schema}.members
	(org_id, user_id, email, phone, first_name, last_name, role, pending, must_change_password, temporary_until,
	member_since, revision)
select
	@org, user_id, @email, @phone, @first_name, @last_name, @role, @pending, must_change_password, temporary_until,
	@at, @revision
from {schema}.users where user_id = @user
on conflict (org_id, user_id) do nothing`
	correctSQL = `
update {schema}.members set phone = @phone, first_name = @first_name, last_name = @last_name, revision = @revision
where org_id = @org and user_id = @user and revision <= @revision`
	forgetUserSQL = `
update {schema}.users set email = '', super_admin = false, phone = '', first_name = '', last_name = ''
where user_id = $1`
	signInSQL = `update {schema}.members set last_sign_in_at = greatest(last_sign_in_at, $3)
where org_id = $1 and user_id = $2`
	givePortalSQL = `insert into {schema}.portal (org_id, subscriber_id, user_id, since) values ($1, $2, $3, $4)
on conflict (org_id, subscriber_id, user_id) do nothing`
	endPortalSQL    = `delete from {schema}.portal where org_id = $1 and subscriber_id = $2 and user_id = $3`
	secondFactorSQL = `update {schema}.members set second_factor = $2 where user_id = $1`
	forgetMemberSQL = `
update {schema}.members set disabled = true, email = '', phone = '', first_name = '', last_name = '', revision = $2
where user_id = $1`
)

// Apply queues the statements for one event. The personal columns of a member have the values that the organization
// knows, so that an organization's list reads one table under its policy and learns nothing about a pending member. A
// member's row ignores older events: a change may depend on the row.
func (Users) Apply(w *runner.Writes, e events.Envelope) error {
	switch v := e.Event.(type) {
	case events.UserRegistered:
		w.Exec(registerSQL, pgx.NamedArgs{
			"user": v.UserID, "email": v.Email.Reveal(), "phone": v.Phone.Reveal(), "first_name": v.FirstName.Reveal(),
			"last_name": v.LastName.Reveal(), "super_admin": v.SuperAdmin, "must_change": v.MustChangePassword,
			"until": null.Time(v.TemporaryUntil()), "at": v.RegisteredAt,
		})
	case events.UserDetailsCorrected:
		corrected(w, v, int64(e.Revision))
	case events.AddressProven:
		w.Exec(`update {schema}.users set person = $2 where user_id = $1`, v.UserID, v.PersonID)
		ownPassword(w, v.UserID)
	case events.MembershipGranted:
		w.Exec(`update {schema}.users set home = $2 where user_id = $1 and home is null`, v.UserID, v.OrgID)
		w.Exec(grantSQL, pgx.NamedArgs{
			"org": v.OrgID, "user": v.UserID, "email": v.Email.Reveal(), "phone": v.Phone.Reveal(),
			"first_name": v.FirstName.Reveal(), "last_name": v.LastName.Reveal(), "role": string(v.Role),
			"pending": v.Pending, "at": v.At, "revision": int64(e.Revision),
		})
	case events.MembershipDetailsCorrected:
		w.Exec(correctSQL, pgx.NamedArgs{
			"org": v.OrgID, "user": v.UserID, "phone": v.Phone.Reveal(), "first_name": v.FirstName.Reveal(),
			"last_name": v.LastName.Reveal(), "revision": int64(e.Revision),
		})
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
	case events.SessionStarted:
		w.Exec(signInSQL, v.OrgID, v.UserID, v.At)
	case events.PortalAccessGiven, events.PortalAccessEnded:
		portal(w, v)
	case events.UserForgotten:
		w.Exec(`delete from {schema}.portal where user_id = $1`, v.UserID)
		w.Exec(forgetUserSQL, v.UserID)
		w.Exec(forgetMemberSQL, v.UserID, int64(e.Revision))
	case events.PasswordChanged:
		ownPassword(w, v.UserID)
	case events.TemporaryPasswordGiven:
		password(w, v.UserID, true, v.Until())
	case events.LoginEmailChanged:
		contact(w, "email", v.UserID, v.Email, int64(e.Revision))
	case events.LoginPhoneChanged:
		contact(w, "phone", v.UserID, v.Phone, int64(e.Revision))
	case events.SecondFactorEnrolled, events.SecondFactorRemoved:
		factor(w, v)
	}
	return nil
}

// factor follows whether a user has a second factor.
func factor(w *runner.Writes, e events.Event) {
	switch v := e.(type) {
	case events.SecondFactorEnrolled:
		w.Exec(secondFactorSQL, v.UserID, true)
	case events.SecondFactorRemoved:
		w.Exec(secondFactorSQL, v.UserID, false)
	}
}

// portal follows whom a user sees.
func portal(w *runner.Writes, e events.Event) {
	switch v := e.(type) {
	case events.PortalAccessGiven:
		w.Exec(givePortalSQL, v.OrgID, v.SubscriberID, v.UserID, v.At)
	case events.PortalAccessEnded:
		w.Exec(endPortalSQL, v.OrgID, v.SubscriberID, v.UserID)
	}
}

// corrected writes the details of a user, which an organization with a pending membership does not know.
func corrected(w *runner.Writes, v events.UserDetailsCorrected, revision int64) {
	w.Exec(`update {schema}.users set phone = $2, first_name = $3, last_name = $4 where user_id = $1`,
		v.UserID, v.Phone.Reveal(), v.FirstName.Reveal(), v.LastName.Reveal())
	w.Exec(`update {schema}.members set phone = $2, first_name = $3, last_name = $4, revision = $5
			where user_id = $1 and not pending and revision <= $5`,
		v.UserID, v.Phone.Reveal(), v.FirstName.Reveal(), v.LastName.Reveal(), revision)
}

// contact writes an address that the user has chosen, which an organization with a pending membership does not know.
func contact(w *runner.Writes, column string, user id.User, address personal.Text, revision int64) {
	w.Exec(`update {schema}.users set `+column+` = $2 where user_id = $1`, user, address.Reveal())
	w.Exec(`update {schema}.members set `+column+` = $2, revision = $3
			where user_id = $1 and not pending and revision <= $3`, user, address.Reveal(), revision)
}

// ownPassword writes that the user has chosen a password.
func ownPassword(w *runner.Writes, user id.User) { password(w, user, false, time.Time{}) }

// password writes whether the user has a temporary password, and until when.
func password(w *runner.Writes, user id.User, temporary bool, until time.Time) {
	for _, table := range []string{"users", "members"} {
		w.Exec(`update {schema}.`+table+` set must_change_password = $2, temporary_until = $3 where user_id = $1`,
			user, temporary, null.Time(until))
	}
}
