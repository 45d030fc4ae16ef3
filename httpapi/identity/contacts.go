package identityapi

import (
	"context"

	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/usecases/identity"
)

// contactRequest is the body of POST /auth/contacts (docs/rules/identity.md#own-addresses).
type contactRequest struct {
	Email *string `json:"email,omitempty" doc:"the new address; either this or phone"`
	Phone *string `json:"phone,omitempty" doc:"the new number, with its country"`
}

// askContact has the codes sent. Its answer is the same whoever has the new address.
func (a Codes) askContact(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[contactRequest](c)
	if err != nil {
		return err
	}
	wish := identitycases.NewContact{UserID: c.Caller.UserID}
	for to, from := range map[**personal.Text]*string{&wish.Email: in.Email, &wish.Phone: in.Phone} {
		if from != nil {
			text := personal.Of(*from)
			*to = &text
		}
	}
	if err := a.Codes.AskChange(ctx, c.Asked(), wish); err != nil {
		return err
	}
	return c.Send(200, doneResponse{"A code is on its way to your present address, and another one to the new one."})
}

// contactProof is the body of POST /auth/contacts/confirm (docs/rules/identity.md#own-addresses).
type contactProof struct {
	OldCode secrets.Text `json:"oldCode" doc:"sent to the present address"`
	NewCode secrets.Text `json:"newCode" doc:"sent to the new address"`
}

// confirmContact changes the address.
func (a Codes) confirmContact(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[contactProof](c)
	if err != nil {
		return err
	}
	done, err := a.Codes.ConfirmChange(ctx, c.Asked(), identitycases.ContactProof{
		UserID: c.Caller.UserID, Session: c.Caller.SessionID, Old: in.OldCode, New: in.NewCode,
	})
	if err != nil {
		return err
	}
	if _, err := c.WaitVisible(ctx, identityviews.UsersName, done); err != nil {
		return err
	}
	return c.Send(200, doneResponse{"Your address was changed. Every other session has ended."})
}
