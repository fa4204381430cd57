package mcpserver

import (
	"context"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const sessionURI = "copilot-mem://session/"

// resources offers every session as a text, by its id.
func (t tools) resources(s *mcp.Server) {
	s.AddResourceTemplate(&mcp.ResourceTemplate{
		Name: "session", Title: "A past session", URITemplate: sessionURI + "{id}", MIMEType: "text/plain",
		Description: "What was said and done in a session",
	}, func(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		uri := req.Params.URI
		id, ok := strings.CutPrefix(uri, sessionURI)
		if !ok || id == "" {
			return nil, mcp.ResourceNotFoundError(uri)
		}
		_, text, err := t.show(ctx, nil, showArgs{ID: id, MaxTokens: maxTokens})
		if err != nil {
			return nil, err
		}
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: "text/plain", Text: text}}}, nil
	})
}
