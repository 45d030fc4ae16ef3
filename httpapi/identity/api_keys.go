package identityapi

import (
	"context"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/inputtext"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/usecases/identity"
)

// APIKeys serves /api-keys: with them other programs act for an organization. People alone manage them.
type APIKeys struct {
	Cases     identitycases.APIKeys
	Keys      identityviews.APIKeysQuery
	Users     identityviews.UsersQuery
	Directory *identityviews.Directory
	Uses      *KeyUses
	Clock     clock.Clock
}

// Routes lists the endpoints of API keys.
func (a APIKeys) Routes() []httpapi.Route {
	of := func(method, path, summary string, handle func(context.Context, *httpapi.Call) error) httpapi.Route {
		return httpapi.Route{
			Method: method, Path: path, Hosts: httpapi.OnOrganization, Access: httpapi.AccessAdmin, PeopleOnly: true,
			Summary: summary, Handle: handle,
		}
	}
	create := of("POST", "/api-keys", "Make an API key, whose text is shown once", a.create)
	create.Request, create.Response, create.Status = apiKeyRequest{}, newAPIKeyResponse{}, 201
	create.Codes = []string{"api_key_quota_reached", "api_key_role", "api_key_shown"}
	list := of("GET", "/api-keys", "List the organization's API keys, newest first", a.list)
	list.Row = apiKeyResponse{}
	get := of("GET", "/api-keys/:id", "Read an API key, without its text", a.get)
	get.Response = apiKeyResponse{}
	rotate := of("POST", "/api-keys/:id/rotate", "Replace the text of an API key by one that is shown once", a.rotate)
	rotate.Request, rotate.Response = rotateRequest{}, newAPIKeyResponse{}
	rotate.Codes = []string{
		"api_key_not_found", "api_key_over", "api_key_rotated", "api_key_role", "api_key_rotations", "api_key_shown",
	}
	revoke := of("DELETE", "/api-keys/:id", "End an API key at once", a.revoke)
	revoke.Status, revoke.Codes = 204, []string{"api_key_not_found"}
	scopes := of("GET", "/api-key-scopes", "The scopes that an API key can have", a.scopes)
	scopes.Response, scopes.InMemory = httpapi.ListOf[scopeResponse]{}, true
	return []httpapi.Route{create, list, get, rotate, revoke, scopes}
}

// apiKeyRequest is the body of POST /api-keys (docs/rules/identity.md#api-keys).
type apiKeyRequest struct {
	Name             string     `json:"name"`
	Role             string     `json:"role" enum:"admin,support" doc:"at most your own"`
	Scopes           []string   `json:"scopes,omitempty" doc:"RESOURCE:read or :write; without: all of the role"`
	ExpiresAt        *time.Time `json:"expiresAt,omitempty" doc:"without: never"`
	AllowedAddresses []string   `json:"allowedAddresses,omitempty" doc:"addresses, networks; without: from everywhere"`
}

// rotateRequest is the body of POST /api-keys/:id/rotate.
type rotateRequest struct {
	Overlap string `json:"overlap,omitempty" doc:"how long the old text works on, such as 1h; 168h at most"`
}

// one describes how an API key is read and shown.
func (a APIKeys) one() httpapi.One[id.APIKey, identityviews.APIKeyRow, apiKeyResponse] {
	var facts keyFacts // of the row that was read last
	return httpapi.One[id.APIKey, identityviews.APIKeyRow, apiKeyResponse]{
		Model: identityviews.APIKeysName, Missing: commands.ErrNoAPIKey,
		Read: func(ctx context.Context, org id.Organization, key id.APIKey) (*identityviews.APIKeyRow, error) {
			row, err := a.Keys.Get(ctx, org, key)
			if err != nil || row == nil {
				return nil, err
			}
			facts, err = a.facts(ctx, org, []identityviews.APIKeyRow{*row})
			return row, err
		},
		Show:     func(r identityviews.APIKeyRow) apiKeyResponse { return a.show(r, facts) },
		Revision: func(r identityviews.APIKeyRow) int64 { return r.Revision },
	}
}

// get answers with one key.
func (a APIKeys) get(ctx context.Context, c *httpapi.Call) error {
	return httpapi.ReadOne(ctx, c, a.one())
}

// list answers with a page of keys.
func (a APIKeys) list(ctx context.Context, c *httpapi.Call) error {
	var facts keyFacts // of the page
	show := func(r identityviews.APIKeyRow) apiKeyResponse { return a.show(r, facts) }
	return httpapi.SendList(ctx, c, show, func(
		ctx context.Context, after identityviews.APIKeyKey, max int,
	) ([]identityviews.APIKeyRow, error) {
		rows, err := a.Keys.List(ctx, c.Org.ID, after, max)
		if err == nil {
			facts, err = a.facts(ctx, c.Org.ID, rows)
		}
		return rows, err
	})
}

// input is the request in the form of the use case. Scopes that no route has for the role are faults.
func (r apiKeyRequest) input(known []string) (identitycases.NewAPIKey, error) {
	in := identitycases.NewAPIKey{
		Name: inputtext.Text(r.Name), Role: events.Role(r.Role), Scopes: r.Scopes,
		AllowedAddresses: r.AllowedAddresses, ExpiresAt: null.Zero(r.ExpiresAt),
	}
	if err := in.Validate(); err != nil {
		return in, err
	}
	var f failure.Faults
	for _, scope := range in.Scopes {
		f.Check(slices.Contains(known, scope), "scopes", "has %q, which a key of the role %s cannot have", scope,
			r.Role)
	}
	return in, f.Err()
}

// create makes a key. Once it is made its text has to be told, so nothing that can fail comes after it.
func (a APIKeys) create(ctx context.Context, c *httpapi.Call) error {
	request, invalid, err := httpapi.DecodeLoosely[apiKeyRequest](c)
	if err != nil {
		return err
	}
	in, wrong := request.input(c.KeyScopes(events.Role(request.Role)))
	if err := failure.JoinFaults(invalid, wrong); err != nil {
		return err
	}
	facts, err := a.facts(ctx, c.Org.ID, nil, c.Caller.UserID)
	if err != nil {
		return err
	}
	made, err := a.Cases.Issue(ctx, c.Asked(), in)
	if err != nil {
		return err
	}
	return a.tell(ctx, c, 201, made, facts)
}

// rotate replaces the text of a key.
func (a APIKeys) rotate(ctx context.Context, c *httpapi.Call) error {
	key, err := httpapi.PathID[id.APIKey](c, "id", commands.ErrNoAPIKey)
	if err != nil {
		return err
	}
	in, err := httpapi.Decode[rotateRequest](c)
	if err != nil {
		return err
	}
	overlap, err := in.overlap()
	if err != nil {
		return err
	}
	row, err := a.one().Find(ctx, c, key)
	if err != nil {
		return err
	}
	facts, err := a.facts(ctx, c.Org.ID, []identityviews.APIKeyRow{row}, c.Caller.UserID)
	if err != nil {
		return err
	}
	made, err := a.Cases.Rotate(ctx, c.Asked(), key, overlap)
	if err != nil {
		return err
	}
	return a.tell(ctx, c, 200, made, facts)
}

// overlap reads the time; none is 0.
func (r rotateRequest) overlap() (time.Duration, error) {
	if r.Overlap == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(r.Overlap)
	var f failure.Faults
	f.Check(err == nil, "overlap", "must be a time such as 1h or 30m")
	return d, f.Err()
}

// tell answers with a key and its text. It shows what the log has: the list may show it a moment later, and the text
// has to be told now or never.
func (a APIKeys) tell(
	ctx context.Context, c *httpapi.Call, status int, made identitycases.ShownKey, facts keyFacts,
) error {
	_, _ = c.WaitVisible(ctx, identityviews.APIKeysName, made.Position)
	issued, rotated := made.State.Issued, made.State.Rotated
	row := identityviews.APIKeyRow{
		ID: issued.KeyID, OrgID: issued.OrgID, Name: issued.Name, Role: issued.Role, Scopes: issued.Scopes,
		AllowedAddresses: issued.AllowedAddresses, ExpiresAt: null.Time(issued.ExpiresAt), CreatedAt: issued.At,
		CreatedBy: issued.By, SecretID: issued.SecretID, Prefix: issued.Prefix, Answers: issued.By,
	}
	if made.State.Rotations > 0 {
		row.SecretID, row.Prefix, row.Answers, row.RotatedAt = rotated.SecretID, rotated.Prefix, rotated.By, &rotated.At
	}
	if made.State.Rotations > 0 && rotated.Overlaps() {
		row.PreviousPrefix, row.PreviousUntil = &made.PreviousPrefix, &rotated.PreviousUntil
	}
	c.SetRevision(made.Revision)
	return c.Send(status, newAPIKeyResponse{a.show(row, facts), made.Text.Reveal()})
}

// revoke ends a key.
func (a APIKeys) revoke(ctx context.Context, c *httpapi.Call) error {
	key, err := httpapi.PathID[id.APIKey](c, "id", commands.ErrNoAPIKey)
	if err != nil {
		return err
	}
	done, err := a.Cases.Revoke(ctx, c.Asked(), key)
	if err != nil {
		return err
	}
	if _, err := c.WaitVisible(ctx, identityviews.APIKeysName, done.Position); err != nil {
		return err
	}
	return c.NoContent()
}

// scopes lists the scopes, and the roles of keys for which each opens something.
func (a APIKeys) scopes(_ context.Context, c *httpapi.Call) error {
	out := httpapi.ListOf[scopeResponse]{Data: []scopeResponse{}}
	support := c.KeyScopes(events.RoleSupport)
	for _, scope := range c.KeyScopes(events.RoleAdmin) {
		roles := []string{string(events.RoleAdmin)}
		if slices.Contains(support, scope) {
			roles = append(roles, string(events.RoleSupport))
		}
		out.Data = append(out.Data, scopeResponse{scope, roles})
	}
	return c.Send(200, out)
}
