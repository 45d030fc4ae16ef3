package documentscases

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/paper"
	"github.com/lastmile-isp/lastmile/internal/parsing"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Logos chooses the picture on an organization's documents. Safe for concurrent use.
type Logos struct {
	Bus           *bus.Bus
	Vault         *vault.Logos
	Organizations identityviews.OrganizationsQuery
	Turns         *parsing.Turns
}

// Choose reads a PNG or JPEG file and puts it on the organization's documents. The picture is stored first, so that no
// event names one that is not there; after a stop in between it stays without an event for an hour. Fails:
// invalid_input, input_too_large, input_too_complex, parsing_busy, organization_not_found.
func (l Logos) Choose(ctx context.Context, asked usecases.Asked, file []byte) (bus.Result, error) {
	picture, err := paper.NewPicture(ctx, l.Turns, asked.Org(), file)
	if err != nil {
		return bus.Result{}, err
	}
	sum := sha256.Sum256(picture.PNG)
	digest := hex.EncodeToString(sum[:])
	if err := l.Vault.Put(ctx, asked.Org(), digest, picture.PNG); err != nil {
		return bus.Result{}, err
	}
	done, err := l.Bus.Execute(ctx, commands.ChooseLogo{OrgID: asked.Org(), Digest: digest}, asked.Meta)
	if err != nil {
		return done, err
	}
	return done, l.tidy(ctx, asked.Org())
}

// Remove takes the picture off the organization's documents. Fails: organization_not_found.
func (l Logos) Remove(ctx context.Context, asked usecases.Asked) (bus.Result, error) {
	done, err := l.Bus.Execute(ctx, commands.RemoveLogo{OrgID: asked.Org()}, asked.Meta)
	if err != nil {
		return done, err
	}
	return done, l.tidy(ctx, asked.Org())
}

// tidy removes the pictures of before, by the log, since another change may have come meanwhile.
func (l Logos) tidy(ctx context.Context, org id.Organization) error {
	present, _, err := bus.LoadOwned[identity.Organization](ctx, l.Bus, org, org)
	if err != nil {
		return err
	}
	return l.Vault.Tidy(ctx, org, present.Logo)
}

// Of gives the picture of an organization as the read model shows it; nil = it has none.
func (l Logos) Of(ctx context.Context, org id.Organization) (*paper.Picture, error) {
	row, err := l.Organizations.Get(ctx, org)
	if err != nil || row == nil || row.Logo == "" {
		return nil, err
	}
	png, err := l.Vault.Get(ctx, org, row.Logo)
	if err != nil || png == nil {
		return nil, err
	}
	picture, err := paper.ReadPicture(png)
	return &picture, err
}
