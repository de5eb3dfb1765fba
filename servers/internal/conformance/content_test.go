package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

const (
	// pixel is a PNG of one red pixel.
	pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
	// silence is a WAV file of one silent sample.
	silence = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQIAAAAAAA=="
)

// schema2020 uses keywords beyond what a struct of Go fields would carry.
const schema2020 = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",` +
	`"$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},` +
	`"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]},` +
	`"phone":{"type":"string"},"email":{"type":"string"}},"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],` +
	`"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},"then":{"required":["phone"]},"else":{"required":["email"]},` +
	`"additionalProperties":false}`

// gives is a handler that always has the same result.
func gives(content ...mcp.Content) server.ToolHandlerFunc {
	return func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: content}, nil
	}
}

func textResource(uri, mime, text string) mcp.Content {
	return mcp.NewEmbeddedResource(mcp.TextResourceContents{URI: uri, MIMEType: mime, Text: text})
}

func contentTools() []server.ServerTool {
	header := tool("test_custom_headers", "Has parameters that travel in headers too", gives(mcp.NewTextContent("ok")))
	header.Tool.InputSchema = mcp.ToolInputSchema{}
	header.Tool.RawInputSchema = json.RawMessage(`{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}},"required":["region"]}`)
	schema := tool("json_schema_2020_12_tool", "Tool with JSON Schema 2020-12 features", gives(mcp.NewTextContent("ok")))
	schema.Tool.InputSchema = mcp.ToolInputSchema{}
	schema.Tool.RawInputSchema = json.RawMessage(schema2020)
	return []server.ServerTool{
		tool("test_simple_text", "A text", gives(mcp.NewTextContent("This is a simple text response for testing."))),
		tool("test_image_content", "A picture", gives(mcp.NewImageContent(pixel, "image/png"))),
		tool("test_audio_content", "A sound", gives(mcp.NewAudioContent(silence, "audio/wav"))),
		tool("test_embedded_resource", "A resource in the result", gives(
			textResource("test://embedded-resource", "text/plain", "This is an embedded resource content."))),
		tool("test_multiple_content_types", "Several kinds of content", gives(
			mcp.NewTextContent("Multiple content types test:"), mcp.NewImageContent(pixel, "image/png"),
			textResource("test://mixed-content-resource", "application/json", `{"test":"data","value":123}`))),
		tool("test_error_handling", "Fails", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultError("This tool intentionally returns an error for testing"), nil
		}),
		header,
		schema,
	}
}

// noticeTools send notifications while they run.
func noticeTools() []server.ServerTool {
	say := func(ctx context.Context, method string, params map[string]any) {
		if s := server.ServerFromContext(ctx); s != nil {
			_ = s.SendNotificationToClient(ctx, method, params) // a client without a stream misses it
		}
	}
	logs := func(texts ...string) server.ToolHandlerFunc {
		return func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			for _, t := range texts {
				if s := server.ServerFromContext(ctx); s != nil {
					_ = s.SendLogMessageToClient(ctx, mcp.NewLoggingMessageNotification(mcp.LoggingLevelInfo, "conformance", t))
				}
				time.Sleep(20 * time.Millisecond) // it is at work
			}
			return mcp.NewToolResultText("logged"), nil
		}
	}
	return []server.ServerTool{
		tool("test_tool_with_logging", "Logs while it runs", logs("Tool execution started", "Tool processing data", "Tool execution completed")),
		tool("test_logging_tool", "Logs if the request asks for it", logs("logged")),
		tool("test_tool_with_progress", "Reports progress", func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if m := r.Params.Meta; m != nil && m.ProgressToken != nil {
				for _, n := range []int{0, 50, 100} {
					say(ctx, "notifications/progress", map[string]any{"progressToken": m.ProgressToken, "progress": n, "total": 100})
					time.Sleep(20 * time.Millisecond) // it is at work
				}
			}
			return mcp.NewToolResultText("done"), nil
		}),
		tool("test_reconnection", "Takes a moment", func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			select {
			case <-time.After(100 * time.Millisecond):
			case <-ctx.Done():
			}
			return mcp.NewToolResultText("Reconnection test completed successfully."), nil
		}),
	}
}

func resources() []server.ServerResource {
	one := func(uri, name, mime string, content mcp.ResourceContents) server.ServerResource {
		return server.ServerResource{
			Resource: mcp.NewResource(uri, name, mcp.WithResourceDescription(name), mcp.WithMIMEType(mime)),
			Handler: func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
				return []mcp.ResourceContents{content}, nil
			},
		}
	}
	return []server.ServerResource{
		one("test://static-text", "A text", "text/plain", mcp.TextResourceContents{
			URI: "test://static-text", MIMEType: "text/plain", Text: "This is the content of the static text resource.",
		}),
		one("test://static-binary", "A picture", "image/png", mcp.BlobResourceContents{URI: "test://static-binary", MIMEType: "image/png", Blob: pixel}),
		one("test://watched-resource", "A text that may change", "text/plain", mcp.TextResourceContents{
			URI: "test://watched-resource", MIMEType: "text/plain", Text: "Watched resource content",
		}),
	}
}

func templates() []server.ServerResourceTemplate {
	return []server.ServerResourceTemplate{{
		Template: mcp.NewResourceTemplate("test://template/{id}/data", "Data of an id", mcp.WithTemplateMIMEType("application/json")),
		Handler: func(_ context.Context, r mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			id := strings.TrimSuffix(strings.TrimPrefix(r.Params.URI, "test://template/"), "/data")
			return []mcp.ResourceContents{mcp.TextResourceContents{
				URI: r.Params.URI, MIMEType: "application/json",
				Text: fmt.Sprintf(`{"id":%q,"templateTest":true,"data":%q}`, id, "Data for ID: "+id),
			}}, nil
		},
	}}
}

func prompts() []server.ServerPrompt {
	return []server.ServerPrompt{
		prompt("test_simple_prompt", "Without arguments", nil, "This is a simple prompt for testing."),
		prompt("test_prompt_with_arguments", "With two arguments", []string{"arg1", "arg2"}, func(a map[string]string) mcp.Content {
			return mcp.NewTextContent(fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", a["arg1"], a["arg2"]))
		}),
		prompt("test_prompt_with_embedded_resource", "With a resource", []string{"resourceUri"}, func(a map[string]string) mcp.Content {
			return textResource(a["resourceUri"], "text/plain", "Embedded resource content for testing.")
		}, "Please process the embedded resource above."),
		prompt("test_prompt_with_image", "With a picture", nil, mcp.NewImageContent(pixel, "image/png"), "Please analyze the image above."),
		roundTripPrompt(),
	}
}
