package commands

import (
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
)

// ChangeLoginEmail gives a user another e-mail address. The caller has checked codes that were sent to the address of
// before and to this one. Fails: user_not_found, already_member (the organization has a user with the address),
// email_taken (another person has it).
type ChangeLoginEmail struct {
	UserID id.User
	Email  personal.Text // as NormalizeEmail writes it
}

// ChangeLoginPhone gives a user another phone. The caller has checked codes that were sent to an address of before and
// to this one. Fails: user_not_found, phone_taken (another person has it).
type ChangeLoginPhone struct {
	UserID id.User
	Phone  personal.Text // E.164
}

// EnrolSecondFactor records that a code of a device is asked for at every sign-in. Fails: user_not_found,
// second_factor_enrolled.
type EnrolSecondFactor struct {
	UserID   id.User
	FactorID id.SecondFactor
}

// UseRecoveryCode records that a recovery code stood in for the device; the vault has used it up. Fails:
// user_not_found, second_factor_missing.
type UseRecoveryCode struct {
	UserID   id.User
	FactorID id.SecondFactor
	Left     int // recovery codes after this one
}

// RemoveSecondFactor takes off the own second factor. Fails: user_not_found, second_factor_missing.
type RemoveSecondFactor struct{ UserID id.User }

// RemoveLostSecondFactor takes off the second factor of somebody who has lost the device. A zero organization is for
// administrators of the platform, by whoever runs the program. Fails: user_not_found, second_factor_missing,
// second_factor_of_person, own_second_factor.
type RemoveLostSecondFactor struct {
	UserID id.User
	OrgID  id.Organization // of the administrator who does it
	By     id.User
	Reason string
}

func (ChangeLoginEmail) CommandName() string       { return "identity.ChangeLoginEmail" }
func (ChangeLoginPhone) CommandName() string       { return "identity.ChangeLoginPhone" }
func (EnrolSecondFactor) CommandName() string      { return "identity.EnrolSecondFactor" }
func (UseRecoveryCode) CommandName() string        { return "identity.UseRecoveryCode" }
func (RemoveSecondFactor) CommandName() string     { return "identity.RemoveSecondFactor" }
func (RemoveLostSecondFactor) CommandName() string { return "identity.RemoveLostSecondFactor" }

func (ChangeLoginEmail) userCommand()       {}
func (ChangeLoginPhone) userCommand()       {}
func (EnrolSecondFactor) userCommand()      {}
func (UseRecoveryCode) userCommand()        {}
func (RemoveSecondFactor) userCommand()     {}
func (RemoveLostSecondFactor) userCommand() {}

func (c ChangeLoginEmail) Target() Target       { return At(UserCategory, c.UserID) }
func (c ChangeLoginPhone) Target() Target       { return At(UserCategory, c.UserID) }
func (c EnrolSecondFactor) Target() Target      { return At(UserCategory, c.UserID) }
func (c UseRecoveryCode) Target() Target        { return At(UserCategory, c.UserID) }
func (c RemoveSecondFactor) Target() Target     { return At(UserCategory, c.UserID) }
func (c RemoveLostSecondFactor) Target() Target { return At(UserCategory, c.UserID) }

// Validate checks the form of the address.
func (c ChangeLoginEmail) Validate() error {
	var f failure.Faults
	checkEmail(&f, "email", c.Email.Reveal())
	return f.Err()
}

// Validate checks the form of the number.
func (c ChangeLoginPhone) Validate() error {
	var f failure.Faults
	checkPhone(&f, "phone", c.Phone.Reveal())
	return f.Err()
}

// Validate accepts everything, because the program fills all fields.
func (EnrolSecondFactor) Validate() error { return nil }

// Validate accepts everything, because the program fills all fields.
func (UseRecoveryCode) Validate() error { return nil }

func (RemoveSecondFactor) Validate() error { return nil }

// Validate asks for the reason, which the audit log shows.
func (c RemoveLostSecondFactor) Validate() error { return requireReason(c.Reason) }

// ErrNoSecondFactor is the failure for a user who has none.
func ErrNoSecondFactor() error {
	return failure.NewConflict("second_factor_missing", "There is no second factor.")
}
