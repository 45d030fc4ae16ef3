package httpapi

import (
	"context"
	"net/http"
)

// indexResponse names the service that answers here. Web pages will take its place.
type indexResponse struct {
	Service      string `json:"service"`
	Organization string `json:"organization,omitempty"`
	OpenAPI      string `json:"openapi"`
	Health       string `json:"health"`
}

// ownRoutes are the routes that need no area.
func (s *Server) ownRoutes() []Route {
	return []Route{
		{
			Method: http.MethodGet, Path: "/", Hosts: OnBoth, Access: AccessPublic, Summary: "What this is",
			Response: indexResponse{}, Handle: s.index,
		},
		{
			Method: http.MethodGet, Path: "/openapi.json", Hosts: OnEvery, Access: AccessPublic,
			Summary: "This document", Produces: "application/json", Handle: s.sendOpenAPI,
		},
	}
}

// index answers with the service, the host's organization and the addresses of document and health.
func (s *Server) index(_ context.Context, c *Call) error {
	return c.Send(http.StatusOK, indexResponse{
		Service: "Lastmile", Organization: c.Org.Name, OpenAPI: "/openapi.json", Health: "/healthz",
	})
}

// sendOpenAPI answers with the document of this kind of host.
func (s *Server) sendOpenAPI(_ context.Context, c *Call) error {
	c.SendBytes(http.StatusOK, contentJSON, s.openAPI[c.hostKind])
	return nil
}
