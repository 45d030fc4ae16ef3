package identityapi

import (
	"context"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/usecases/identity"
)

// SecondFactors serves /auth/second-factor (docs/rules/identity.md#second-factor).
type SecondFactors struct {
	Auth     Auth
	Cases    identitycases.SecondFactors
	Platform string // how applications name the root host
}

// Routes lists the endpoints. The step of a sign-in counts as one.
func (a SecondFactors) Routes() []httpapi.Route {
	return []httpapi.Route{
		{
			Method: "POST", Path: "/auth/second-factor", Hosts: httpapi.OnBoth, Access: httpapi.AccessPublic,
			LoginLimit: true, Summary: "Complete a sign-in with a code of the second factor", Request: factorRequest{},
			Response: signInResponse{}, Handle: a.complete,
			Codes: []string{"sign_in_expired", "wrong_second_factor", "second_factor_limited"},
		},
		{
			Method: "GET", Path: "/auth/second-factor", Hosts: httpapi.OnBoth, Access: httpapi.AccessSupport,
			Summary: "Whether the caller has a second factor, and needs one", Response: factorResponse{},
			Handle: a.get,
		},
		{
			Method: "POST", Path: "/auth/second-factor/enrol", Hosts: httpapi.OnBoth, Access: httpapi.AccessSupport,
			Summary: "Make the secret of a second factor, which is shown once", Request: enrolRequest{},
			Response: enrolResponse{}, Handle: a.enrol,
			Codes: []string{"second_factor_enrolled", "account_locked", "wrong_password", "sign_in_busy"},
		},
		{
			Method: "POST", Path: "/auth/second-factor/confirm", Hosts: httpapi.OnBoth,
			Access:  httpapi.AccessSupport,
			Summary: "Use the second factor from now on; recovery codes are shown once",
			Request: confirmRequest{}, Response: recoveryResponse{}, Handle: a.confirm,
			Codes: []string{"second_factor_enrolled", "wrong_factor_code"},
		},
		{
			Method: "POST", Path: "/auth/second-factor/remove", Hosts: httpapi.OnBoth, Access: httpapi.AccessSupport,
			Summary: "Remove the own second factor", Request: removeRequest{}, Response: doneResponse{},
			Handle: a.remove,
			Codes: []string{
				"second_factor_missing", "account_locked", "wrong_password", "wrong_factor_code",
				"second_factor_limited", "sign_in_busy",
			},
		},
	}
}

// factorRequest is the body of POST /auth/second-factor.
type factorRequest struct {
	VerifiedToken secrets.Text `json:"verifiedToken"`
	Code          secrets.Text `json:"code" doc:"of the device, or a recovery code"`
}

// complete opens the session of a sign-in.
func (a SecondFactors) complete(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[factorRequest](c)
	if err != nil {
		return err
	}
	signed, err := a.Cases.Complete(ctx, c.Asked(), identitycases.SecondProof{Token: in.VerifiedToken, Code: in.Code})
	if err != nil {
		return err
	}
	return a.Auth.signedIn(c, signed)
}

// factorResponse is the answer of GET /auth/second-factor.
type factorResponse struct {
	Enrolled          bool `json:"enrolled"`
	RecoveryCodesLeft int  `json:"recoveryCodesLeft"`
	Required          bool `json:"required" doc:"by the organization, or by the platform"`
}

// get tells what the caller has, and needs.
func (a SecondFactors) get(ctx context.Context, c *httpapi.Call) error {
	standing, _ := a.Auth.Tokens.Directory.Standing(c.Caller.UserID, c.Caller.OrgID, c.Caller.SessionID)
	left, err := a.Cases.Vault.Left(ctx, standing.SecondFactor)
	if err != nil {
		return err
	}
	return c.Send(200, factorResponse{
		Enrolled: !standing.SecondFactor.IsZero(), RecoveryCodesLeft: left,
		Required: a.Auth.Tokens.needsFactor(standing),
	})
}

// enrolRequest is the body of POST /auth/second-factor/enrol.
type enrolRequest struct {
	CurrentPassword secrets.Text `json:"currentPassword"`
}

// enrolResponse shows a secret, once.
type enrolResponse struct {
	Secret     string `json:"secret" doc:"to type into an authenticator application"`
	OtpauthURI string `json:"otpauthUri" doc:"the same for a QR code"`
}

// enrol makes a secret.
func (a SecondFactors) enrol(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[enrolRequest](c)
	if err != nil {
		return err
	}
	issuer := c.Org.Name
	if issuer == "" {
		issuer = a.Platform
	}
	offered, err := a.Cases.Enrol(ctx, c.Asked(), identitycases.Owner{
		UserID: c.Caller.UserID, Password: in.CurrentPassword, Issuer: issuer,
	})
	if err != nil {
		return err
	}
	return c.Send(200, enrolResponse{Secret: offered.Secret.Reveal(), OtpauthURI: offered.URI.Reveal()})
}

// confirmRequest is the body of POST /auth/second-factor/confirm.
type confirmRequest struct {
	Code secrets.Text `json:"code" doc:"of the device"`
}

// recoveryResponse shows recovery codes, once.
type recoveryResponse struct {
	RecoveryCodes []string `json:"recoveryCodes" doc:"each stands in for the device once"`
}

// confirm has the second factor asked for from now on.
func (a SecondFactors) confirm(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[confirmRequest](c)
	if err != nil {
		return err
	}
	codes, err := a.Cases.Confirm(ctx, c.Asked(), identitycases.Owner{
		UserID: c.Caller.UserID, Session: c.Caller.SessionID, Code: in.Code,
	})
	if err != nil {
		return err
	}
	shown := make([]string, len(codes))
	for i, code := range codes {
		shown[i] = code.Reveal()
	}
	return c.Send(200, recoveryResponse{RecoveryCodes: shown})
}

// removeRequest is the body of POST /auth/second-factor/remove.
type removeRequest struct {
	CurrentPassword secrets.Text `json:"currentPassword"`
	Code            secrets.Text `json:"code" doc:"of the device, or a recovery code"`
}

// remove takes the own second factor off.
func (a SecondFactors) remove(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[removeRequest](c)
	if err != nil {
		return err
	}
	err = a.Cases.Remove(ctx, c.Asked(), identitycases.Owner{
		UserID: c.Caller.UserID, Session: c.Caller.SessionID, Password: in.CurrentPassword, Code: in.Code,
	})
	if err != nil {
		return err
	}
	return c.Send(200, doneResponse{"Your second factor was removed. Every other session has ended."})
}

// lostFactorRequest is the body of POST /users/:id/second-factor/remove.
type lostFactorRequest struct {
	Reason string `json:"reason" doc:"for the audit log"`
}

// removeFactor takes off the second factor of a member who has lost the device.
func (a Users) removeFactor(ctx context.Context, c *httpapi.Call) error {
	user, err := httpapi.PathID[id.User](c, "id", commands.ErrNoUser)
	if err != nil {
		return err
	}
	in, err := httpapi.Decode[lostFactorRequest](c)
	if err != nil {
		return err
	}
	asked, err := askedOfUser(c)
	if err != nil {
		return err
	}
	done, err := a.Factors.RemoveLost(ctx, asked, commands.RemoveLostSecondFactor{
		UserID: user, OrgID: c.Org.ID, By: c.Caller.UserID, Reason: in.Reason,
	})
	if err != nil {
		return err
	}
	return a.show(ctx, c, 200, user, done)
}
