package documentsapi

import (
	"context"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/paper"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/usecases/documents"
)

// Logo serves /settings/organization/logo.
type Logo struct {
	Cases documentscases.Logos
}

// Routes lists the endpoints of the picture on documents.
func (a Logo) Routes() []httpapi.Route {
	const path = "/settings/organization/logo"
	return []httpapi.Route{
		{
			Method: "GET", Path: path, Hosts: httpapi.OnOrganization, Access: httpapi.AccessSupport,
			Summary: "The picture on the organization's documents", Response: logoResponse{}, Handle: a.get,
		},
		{
			Method: "PUT", Path: path, Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin,
			Summary: "Put a picture on the organization's documents", Request: logoRequest{}, Response: logoResponse{},
			Handle: a.put, Codes: []string{"input_too_complex", "parsing_busy"},
		},
		{
			Method: "DELETE", Path: path, Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin, Status: 204,
			Summary: "Take the picture off the organization's documents", Handle: a.remove,
		},
	}
}

// logoRequest is a picture as a file.
type logoRequest struct {
	Image []byte `json:"image" doc:"a PNG or JPEG file in base64, of at most 4 million pixels and 5,000 on a side"`
}

// logoResponse is the picture as it is drawn.
type logoResponse struct {
	Image  *[]byte `json:"image" doc:"a PNG file in base64; null: documents have no picture"`
	Width  int     `json:"width" doc:"in points of its own grid"`
	Height int     `json:"height"`
}

// logo is the picture of an organization, the zero picture for none.
type logo struct{ paper.Picture }

// one describes how the picture is read and shown.
func (a Logo) one() httpapi.One[id.Organization, logo, logoResponse] {
	return httpapi.One[id.Organization, logo, logoResponse]{
		Model: identityviews.OrganizationsName, Missing: commands.ErrNoOrganization, Show: showLogo,
		Read: func(ctx context.Context, _, org id.Organization) (*logo, error) {
			picture, err := a.Cases.Of(ctx, org)
			if err != nil || picture == nil {
				return &logo{}, err
			}
			return &logo{*picture}, nil
		},
	}
}

// showLogo writes null for no picture.
func showLogo(l logo) logoResponse {
	if l.PNG == nil {
		return logoResponse{}
	}
	return logoResponse{Image: &l.PNG, Width: l.Width, Height: l.Height}
}

// get answers with the picture.
func (a Logo) get(ctx context.Context, c *httpapi.Call) error {
	row, err := a.one().Find(ctx, c, c.Org.ID)
	if err != nil {
		return err
	}
	return c.Send(200, showLogo(row))
}

// put chooses a picture.
func (a Logo) put(ctx context.Context, c *httpapi.Call) error {
	in, err := httpapi.Decode[logoRequest](c)
	if err != nil {
		return err
	}
	done, err := a.Cases.Choose(ctx, c.Asked(), in.Image)
	if err != nil {
		return err
	}
	return httpapi.SendOne(ctx, c, 200, a.one(), c.Org.ID, done)
}

// remove takes the picture off.
func (a Logo) remove(ctx context.Context, c *httpapi.Call) error {
	done, err := a.Cases.Remove(ctx, c.Asked())
	if err != nil {
		return err
	}
	if _, err := c.WaitVisible(ctx, identityviews.OrganizationsName, done.Position); err != nil {
		return err
	}
	return c.NoContent()
}
