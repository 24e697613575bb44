import FoundationEssentials
import SeggetReports

/// What describes the API to programs: OpenAPI 3.1.
enum OpenAPI {
    /// The description, as JSON.
    static let text = #"""
        {
         "openapi": "3.1.0",
         "info": {
          "title": "The API of a queue",
          "version": "1",
          "description": "The API of `segget serve --rpc` below /api, see docs/api.md"
         },
         "servers": [{"url": "/api/v2"}],
         "security": [{"secret": []}],
         "paths": {
          "/health": {
           "get": {"operationId": "health", "summary": "Version and process of the worker", "responses": {"200": {"description":
            "The worker", "content": {"application/json": {"schema": {"$ref":
            "#/components/schemas/Health"}}}}, "400": {"$ref": "#/components/responses/Badly"}, "401":
            {"$ref": "#/components/responses/Unauthorized"}, "403": {"$ref":
            "#/components/responses/Forbidden"}, "405": {"$ref": "#/components/responses/WrongMethod"},
            "431": {"$ref": "#/components/responses/LongHead"}, "500": {"$ref":
            "#/components/responses/QueueBroken"}, "503": {"$ref": "#/components/responses/Busy"}}}
          },
          "/tasks": {
           "get": {"operationId": "tasks", "summary": "Tasks, and totals of the queue",
            "parameters": [{"$ref": "#/components/parameters/id"}, {"$ref":
            "#/components/parameters/tag"}, {"$ref": "#/components/parameters/state"}, {"$ref":
            "#/components/parameters/text"}, {"$ref": "#/components/parameters/unseen"}, {"$ref":
            "#/components/parameters/all"}, {"$ref": "#/components/parameters/sort"}, {"$ref":
            "#/components/parameters/descending"}, {"$ref": "#/components/parameters/offset"}, {"$ref":
            "#/components/parameters/limit"}], "responses": {"200": {"description": "The tasks", "content":
            {"application/json": {"schema": {"$ref": "#/components/schemas/Report"}}}}, "400": {"$ref":
            "#/components/responses/Badly"}, "401": {"$ref": "#/components/responses/Unauthorized"},
            "403": {"$ref": "#/components/responses/Forbidden"}, "405": {"$ref":
            "#/components/responses/WrongMethod"}, "431": {"$ref": "#/components/responses/LongHead"},
            "500": {"$ref": "#/components/responses/QueueBroken"}, "503": {"$ref":
            "#/components/responses/Busy"}, "404": {"$ref": "#/components/responses/NoTask"}}}
          },
          "/speeds": {
           "get": {"operationId": "speeds", "summary": "Total speed of all tasks in the last ten minutes",
            "responses": {"200": {"description": "A value for each second", "content": {"application/json":
            {"schema": {"$ref": "#/components/schemas/Speeds"}}}}, "400": {"$ref":
            "#/components/responses/Badly"}, "401": {"$ref": "#/components/responses/Unauthorized"}, "403":
            {"$ref": "#/components/responses/Forbidden"}, "405": {"$ref":
            "#/components/responses/WrongMethod"}, "431": {"$ref": "#/components/responses/LongHead"}}}
          },
          "/tags": {
           "get": {"operationId": "tags", "summary": "Tags, with the number of tasks of each", "responses": {"200":
            {"description": "The tags", "content": {"application/json": {"schema": {"$ref":
            "#/components/schemas/Tags"}}}}, "400": {"$ref": "#/components/responses/Badly"}, "401":
            {"$ref": "#/components/responses/Unauthorized"}, "403": {"$ref":
            "#/components/responses/Forbidden"}, "405": {"$ref": "#/components/responses/WrongMethod"},
            "431": {"$ref": "#/components/responses/LongHead"}, "500": {"$ref":
            "#/components/responses/QueueBroken"}, "503": {"$ref": "#/components/responses/Busy"}}}
          },
          "/tasks/{id}": {
           "get": {"operationId": "task", "summary": "All details of one task", "parameters": [{"name": "id",
            "in": "path", "required": true, "description": "An id, or its first characters", "schema":
            {"type": "string", "minLength": 1}, "examples": {"begin": {"value": "53a1"}, "whole":
            {"value": "53a1f0c2b7d94e68"}}}], "responses": {"200": {"description": "The task", "content":
            {"application/json": {"schema": {"$ref": "#/components/schemas/Detail"}}}}, "400": {"$ref":
            "#/components/responses/Badly"}, "401": {"$ref": "#/components/responses/Unauthorized"},
            "403": {"$ref": "#/components/responses/Forbidden"}, "405": {"$ref":
            "#/components/responses/WrongMethod"}, "431": {"$ref": "#/components/responses/LongHead"},
            "500": {"$ref": "#/components/responses/QueueBroken"}, "503": {"$ref":
            "#/components/responses/Busy"}, "404": {"$ref": "#/components/responses/NoTask"}}}
          },
          "/links": {
           "get": {"operationId": "links", "summary": "The full links of tasks", "parameters": [{"$ref":
            "#/components/parameters/id"}, {"$ref": "#/components/parameters/tag"}], "responses": {"200":
            {"description": "The links", "content": {"application/json": {"schema": {"$ref":
            "#/components/schemas/Links"}}}}, "400": {"$ref": "#/components/responses/Badly"}, "401":
            {"$ref": "#/components/responses/Unauthorized"}, "403": {"$ref":
            "#/components/responses/Forbidden"}, "405": {"$ref": "#/components/responses/WrongMethod"},
            "431": {"$ref": "#/components/responses/LongHead"}, "500": {"$ref":
            "#/components/responses/QueueBroken"}, "503": {"$ref": "#/components/responses/Busy"}}}
          },
          "/events": {
           "get": {"operationId": "events", "summary": "Events of the queue, as they happen", "parameters": [{"$ref":
            "#/components/parameters/id"}, {"$ref": "#/components/parameters/tag"}, {"$ref":
            "#/components/parameters/state"}, {"$ref": "#/components/parameters/text"}, {"$ref":
            "#/components/parameters/unseen"}, {"$ref": "#/components/parameters/all"}, {"name":
            "Last-Event-ID", "in": "header", "description": "The id of the last event that was received",
            "schema": {"type": "string"}}], "responses": {"200": {"description": "Events", "content":
            {"text/event-stream": {"schema": {"type": "string"}}}}, "400": {"$ref":
            "#/components/responses/Badly"}, "401": {"$ref": "#/components/responses/Unauthorized"},
            "403": {"$ref": "#/components/responses/Forbidden"}, "405": {"$ref":
            "#/components/responses/WrongMethod"}, "431": {"$ref": "#/components/responses/LongHead"},
            "500": {"$ref": "#/components/responses/QueueBroken"}, "503": {"$ref":
            "#/components/responses/Busy"}, "404": {"$ref": "#/components/responses/NoTask"}}}
          },
          "/commands": {
           "post": {"operationId": "commands", "summary": "Executes commands, one after the other",
            "requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref":
            "#/components/schemas/Commands"}, "examples": {"pause": {"value": {"commands": [{"command":
            "pause", "all": true}]}}}}}}, "responses": {"200": {"description":
            "The result of each command for each of its tasks", "content": {"application/json": {"schema":
            {"$ref": "#/components/schemas/Results"}}}}, "400": {"$ref": "#/components/responses/Badly"},
            "401": {"$ref": "#/components/responses/Unauthorized"}, "403": {"$ref":
            "#/components/responses/Forbidden"}, "405": {"$ref": "#/components/responses/WrongMethod"},
            "431": {"$ref": "#/components/responses/LongHead"}, "500": {"$ref":
            "#/components/responses/QueueBroken"}, "503": {"$ref": "#/components/responses/Busy"}, "409":
            {"$ref": "#/components/responses/WorkedAlready"}, "413": {"$ref":
            "#/components/responses/TooLong"}, "507": {"$ref": "#/components/responses/DiskFull"}}}
          },
          "/settings": {
           "get": {"operationId": "settings", "summary": "The settings", "responses": {"200": {"description":
            "The settings", "content": {"application/json": {"schema": {"$ref":
            "#/components/schemas/Settings"}}}}, "400": {"$ref": "#/components/responses/Badly"}, "401":
            {"$ref": "#/components/responses/Unauthorized"}, "403": {"$ref":
            "#/components/responses/Forbidden"}, "405": {"$ref": "#/components/responses/WrongMethod"},
            "431": {"$ref": "#/components/responses/LongHead"}, "500": {"$ref":
            "#/components/responses/QueueBroken"}, "503": {"$ref": "#/components/responses/Busy"}}},
           "put": {"operationId": "newSettings", "summary": "Replaces the settings", "requestBody": {"required":
            true, "content": {"application/json": {"schema": {"$ref":
            "#/components/schemas/Settings"}}}}, "responses": {"200": {"description":
            "The new settings", "content": {"application/json": {"schema": {"$ref":
            "#/components/schemas/Settings"}}}}, "400": {"$ref": "#/components/responses/Badly"}, "401":
            {"$ref": "#/components/responses/Unauthorized"}, "403": {"$ref":
            "#/components/responses/Forbidden"}, "405": {"$ref": "#/components/responses/WrongMethod"},
            "431": {"$ref": "#/components/responses/LongHead"}, "500": {"$ref":
            "#/components/responses/QueueBroken"}, "503": {"$ref": "#/components/responses/Busy"}, "413":
            {"$ref": "#/components/responses/TooLong"}, "507": {"$ref":
            "#/components/responses/DiskFull"}}}
          }
         },
         "components": {
          "securitySchemes": {
           "secret": {"type": "http", "scheme": "bearer"}
          },
          "parameters": {
           "id": {"name": "id", "in": "query", "description": "Tasks whose id begins with this", "schema":
            {"type": "array", "items": {"type": "string"}, "maxItems": 1000}, "explode": true},
           "tag": {"name": "tag", "in": "query", "description": "Tasks that have this tag", "schema": {"type":
            "array", "items": {"type": "string"}, "maxItems": 1000}, "explode": true},
           "state": {"name": "state", "in": "query", "description": "Tasks in this state", "schema": {"type": "array",
            "items": {"type": "string", "enum": ["waiting", "running", "verifying", "retrying",
            "waiting_for_network", "completed", "failed", "cancelled", "paused"]}, "maxItems": 1000},
            "explode": true},
           "text": {"name": "text", "in": "query", "description": "Tasks with this text in the URL, name or folder",
            "schema": {"type": "string", "maxLength": 1000}},
           "unseen": {"name": "unseen", "in": "query", "description": "Tasks that ended, with results not yet seen",
            "schema": {"type": "string", "enum": ["0", "1", "false", "true"]}},
           "all": {"name": "all", "in": "query", "description": "All", "schema": {"type": "string", "enum":
            ["0", "1", "false", "true"]}},
           "sort": {"name": "sort", "in": "query", "description": "Sort key; with this or one of the next three parameters, the response is one page of the tasks",
            "schema": {"type": "string", "enum": ["order", "name", "size", "progress", "speed", "left",
            "added", "finished"], "default": "order"}},
           "descending": {"name": "descending", "in": "query", "description": "Sort in descending order",
            "schema": {"type": "string", "enum": ["0", "1", "false", "true"]}},
           "offset": {"name": "offset", "in": "query", "description": "Number of tasks to skip", "schema":
            {"type": "integer", "minimum": 0, "maximum": 9223372036854775807, "default": 0}},
           "limit": {"name": "limit", "in": "query", "description": "Maximum number of tasks", "schema":
            {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100}}
          },
          "responses": {
           "Badly": {"description": "The request, or a value in it, is invalid", "content":
            {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}},
           "Unauthorized": {"description": "The request has no valid secret", "content": {"application/json":
            {"schema": {"$ref": "#/components/schemas/Error"}}}},
           "Forbidden": {"description": "A page of another site sent the request, or clients over TCP may not do this",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}},
           "NoTask": {"description": "No task has this id, several have it, or the path does not exist", "content":
            {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}},
           "WrongMethod": {"description": "`Allow` lists the methods of the path", "content": {"application/json":
            {"schema": {"$ref": "#/components/schemas/Error"}}}},
           "LongHead": {"description": "The header section is too long", "content": {"application/json": {"schema": {"$ref":
            "#/components/schemas/Error"}}}},
           "WorkedAlready": {"description": "Another process runs the queue", "content": {"application/json": {"schema":
            {"$ref": "#/components/schemas/Error"}}}},
           "TooLong": {"description": "The body is too long", "content": {"application/json": {"schema": {"$ref":
            "#/components/schemas/Error"}}}},
           "QueueBroken": {"description": "The queue's file cannot be used", "content": {"application/json": {"schema":
            {"$ref": "#/components/schemas/Error"}}}},
           "Busy": {"description": "Another process has locked the queue and did not release it in time", "content":
            {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}},
           "DiskFull": {"description": "The disk is full", "content": {"application/json": {"schema": {"$ref":
            "#/components/schemas/Error"}}}}
          },
          "schemas": {
           "Error": {"type": "object", "required": ["error"], "properties": {"error": {"type": "object",
            "required": ["code", "message", "hint"], "properties": {"code": {"type": "string", "enum":
            ["invalid", "no_task", "has_worker", "damaged", "later_version", "no_queue",
            "unavailable", "worker", "busy", "disk_full"]}, "message": {"type": "string", "minLength":
            1}, "hint": {"type": "string"}, "member": {"type": "string"}}}}},
           "Health": {"type": "object", "required": ["api", "version", "worker"], "properties": {"api": {"const":
            "v2"}, "version": {"type": "string"}, "worker": {"type": "integer", "minimum": 1},
            "folder": {"type": "string"}, "free_bytes": {"type": "integer", "minimum": 0}}},
           "Report": {"type": "object", "required": ["tasks", "counts", "unseen", "bytes_per_second", "version"],
            "properties": {"tasks": {"type": "array", "items": {"$ref": "#/components/schemas/Task"}},
            "counts": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}},
            "unseen": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}},
            "bytes_per_second": {"type": "number", "minimum": 0}, "matching": {"type": "integer",
            "minimum": 0}, "pause_reason": {"type": "string"}, "version": {"type": "string"}, "worker": {"type": "integer", "minimum": 1}}},
           "Speeds": {"type": "object", "required": ["start", "bytes_per_second"], "properties": {"start": {"type":
            "integer"}, "bytes_per_second": {"type": "array", "maxItems": 600, "items": {"type": "integer",
            "minimum": 0}}}},
           "Tags": {"type": "object", "required": ["tags"], "properties": {"tags": {"type": "object",
            "additionalProperties": {"type": "integer", "minimum": 1}}}},
           "TaskID": {"type": "string", "pattern": "^[0-9a-f]{16}$"},
           "Links": {"type": "object", "required": ["links"], "properties": {"links": {"type": "array",
            "items": {"type": "object", "required": ["id", "url", "urls", "from_client"], "properties":
            {"id": {"$ref": "#/components/schemas/TaskID"}, "url": {"type": "string"}, "urls": {"type":
            "array", "items": {"type": "string"}}, "from_client": {"type": "boolean"}}}}}},
           "Task": {"type": "object", "required": ["id", "state", "wanted", "url", "folder", "bytes_done",
            "attempts", "added", "digests", "tags"], "properties": {"id": {"$ref":
            "#/components/schemas/TaskID"}, "state": {"type": "string", "enum": ["waiting", "running",
            "verifying", "retrying", "waiting_for_network", "paused", "completed", "failed", "cancelled"]},
            "wanted": {"type": "string", "enum": ["run", "paused"]}, "url": {"type": "string"},
            "current_url": {"type": "string"}, "query_tag": {"type": "string", "pattern": "^[0-9a-f]{4}$"}, "path": {"type": "string"}, "folder": {"type": "string"},
            "position": {"type": "integer", "minimum": 1}, "rank": {"type": "integer"}, "bytes_done":
            {"type": "integer", "minimum": 0}, "size": {"type": "integer", "minimum": 0},
            "bytes_per_second": {"type": "number", "minimum": 0}, "seconds_left": {"type": "number",
            "minimum": 0}, "connections": {"type": "integer", "minimum": 0}, "error": {"type": "object",
            "required": ["kind", "message", "hint", "code"], "properties": {"kind": {"type": "string"},
            "message": {"type": "string"}, "hint": {"type": "string"}, "step": {"type": "string"}, "needed": {"type": "array", "items": {"type":
            "string"}}, "starts_over": {"type": "boolean"}, "code": {"type": "integer",
            "minimum": 0}, "status": {"type": "integer"}, "curl_code": {"type": "integer"}, "errno":
            {"type": "integer"}}}, "attempts": {"type": "integer", "minimum": 0}, "retry_at": {"type":
            "number"}, "waiting_since": {"type": "number"}, "pause_reason": {"type": "string"}, "added":
            {"type": "number"}, "started": {"type": "number"}, "finished": {"type": "number"},
            "last_byte": {"type": "number"}, "type": {"type": "string"}, "digests": {"type": "array",
            "items": {"type": "string"}}, "tags": {"type": "array", "items": {"type": "string"}}, "seen":
            {"type": "boolean"}, "file": {"type": "string", "enum": ["there", "missing", "changed"]},
            "skipped": {"type": "boolean"}, "html": {"type": "boolean"}}},
           "Detail": {"type": "object", "required": ["task", "urls", "map", "segments", "events"], "properties":
            {"task": {"$ref": "#/components/schemas/Task"}, "urls": {"type": "array", "items": {"type":
            "string"}, "minItems": 1}, "options": {"$ref": "#/components/schemas/Options"}, "final_url":
            {"type": "string"}, "etag": {"type": "string"},
            "last_modified": {"type": "string"}, "identity": {"type": "string"}, "map": {"type": "array",
            "items": {"type": "integer", "minimum": 0, "maximum": 8}}, "segments": {"type": "array",
            "items": {"type": "object", "required": ["start", "end"], "properties": {"start": {"type":
            "integer", "minimum": 0}, "end": {"type": "integer", "minimum": 0}}}}, "verifying": {"type":
            "array", "items": {"type": "object", "required": ["start", "end"], "properties": {"start":
            {"type": "integer", "minimum": 0}, "end": {"type": "integer", "minimum": 0}}}}, "servers": {"type":
            "array", "items": {"type": "object", "required": ["url", "state", "bytes", "connections"],
            "properties": {"url": {"type": "string"}, "state": {"type": "string", "enum": ["used",
            "waiting_for_sample", "dropped"]}, "bytes": {"type": "integer", "minimum": 0}, "connections":
            {"type": "integer", "minimum": 0}, "reason": {"type": "string"}, "message": {"type":
            "string"}}}}, "connections": {"type": "array", "items": {"type": "object", "required":
            ["server", "state", "bytes_per_second"], "properties": {"server": {"type": "integer",
            "minimum": 0}, "state": {"type": "string"}, "start": {"type": "integer", "minimum": 0},
            "end": {"type": "integer", "minimum": 0}, "position": {"type": "integer", "minimum": 0},
            "bytes_per_second": {"type": "number", "minimum": 0}, "address": {"type": "string"},
            "http_version": {"type": "string"}, "round_trip": {"type": "number", "minimum": 0}}}}, "events": {"type": "array", "items": {"type":
            "object", "required": ["time", "event", "message"], "properties": {"time": {"type":
            "number"}, "event": {"type": "string"}, "message": {"type": "string"}}}}}},
           "Commands": {"type": "object", "required": ["commands"], "properties": {"commands": {"type": "array",
            "items": {"$ref": "#/components/schemas/Command"}}}, "additionalProperties": false},
           "Command": {"oneOf": [{"$ref": "#/components/schemas/Add"}, {"type": "object", "required": ["command"],
            "properties": {"command": {"const": "start"}, "ids": {"type": "array", "items": {"type":
            "string"}, "maxItems": 1000}, "tags": {"type": "array", "items": {"type": "string"},
            "maxItems": 1000}, "all": {"type": "boolean"}, "states": {"type": "array", "items": {"type":
            "string", "enum": ["waiting", "running", "verifying", "retrying", "waiting_for_network",
            "completed", "failed", "cancelled", "paused"]}, "maxItems": 1000}}, "additionalProperties":
            false}, {"type": "object", "required": ["command"], "properties": {"command": {"const":
            "pause"}, "ids": {"type": "array", "items": {"type": "string"}, "maxItems": 1000}, "tags":
            {"type": "array", "items": {"type": "string"}, "maxItems": 1000}, "all": {"type": "boolean"},
            "states": {"type": "array", "items": {"type": "string", "enum": ["waiting", "running",
            "verifying", "retrying", "waiting_for_network", "completed", "failed", "cancelled", "paused"]},
            "maxItems": 1000}}, "additionalProperties": false}, {"type": "object", "required":
            ["command"], "properties": {"command": {"const": "resume"}, "ids": {"type": "array", "items":
            {"type": "string"}, "maxItems": 1000}, "tags": {"type": "array", "items": {"type": "string"},
            "maxItems": 1000}, "all": {"type": "boolean"}, "states": {"type": "array", "items": {"type":
            "string", "enum": ["waiting", "running", "verifying", "retrying", "waiting_for_network",
            "completed", "failed", "cancelled", "paused"]}, "maxItems": 1000}}, "additionalProperties":
            false}, {"type": "object", "required": ["command"], "properties": {"command": {"const":
            "cancel"}, "ids": {"type": "array", "items": {"type": "string"}, "maxItems": 1000}, "tags":
            {"type": "array", "items": {"type": "string"}, "maxItems": 1000}, "all": {"type": "boolean"},
            "states": {"type": "array", "items": {"type": "string", "enum": ["waiting", "running",
            "verifying", "retrying", "waiting_for_network", "completed", "failed", "cancelled", "paused"]},
            "maxItems": 1000}, "keep_part": {"type": "boolean"}}, "additionalProperties": false},
            {"type": "object", "required": ["command"], "properties": {"command": {"const": "retry"}, "ids": {"type": "array", "items":
            {"type": "string"}, "maxItems": 1000}, "tags": {"type": "array", "items": {"type": "string"},
            "maxItems": 1000}, "all": {"type": "boolean"}, "states": {"type": "array", "items": {"type":
            "string", "enum": ["waiting", "running", "verifying", "retrying", "waiting_for_network",
            "completed", "failed", "cancelled", "paused"]}, "maxItems": 1000}}, "additionalProperties":
            false}, {"type": "object", "required": ["command"], "properties": {"command": {"const":
            "mark_seen"}, "ids": {"type": "array", "items": {"type": "string"}, "maxItems": 1000},
            "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 1000}, "all": {"type":
            "boolean"}, "states": {"type": "array", "items": {"type": "string", "enum": ["waiting",
            "running", "verifying", "retrying", "waiting_for_network", "completed", "failed",
            "cancelled", "paused"]}, "maxItems": 1000}}, "additionalProperties": false}, {"type": "object",
            "required": ["command"], "properties": {"command": {"const": "remove"}, "ids": {"type":
            "array", "items": {"type": "string"}, "maxItems": 1000}, "tags": {"type": "array", "items":
            {"type": "string"}, "maxItems": 1000}, "all": {"type": "boolean"}, "states": {"type":
            "array", "items": {"type": "string", "enum": ["waiting", "running", "verifying", "retrying",
            "waiting_for_network", "completed", "failed", "cancelled", "paused"]}, "maxItems": 1000},
            "files": {"type": "boolean"}}, "additionalProperties": false}, {"type": "object", "required":
            ["command", "to"], "properties": {"command": {"const": "move"}, "ids": {"type": "array",
            "items": {"type": "string"}, "maxItems": 1000}, "tags": {"type": "array", "items": {"type":
            "string"}, "maxItems": 1000}, "all": {"type": "boolean"}, "states": {"type": "array",
            "items": {"type": "string", "enum": ["waiting", "running", "verifying", "retrying",
            "waiting_for_network", "completed", "failed", "cancelled", "paused"]}, "maxItems": 1000}, "to":
            {"oneOf": [{"type": "string", "enum": ["first", "last"]}, {"type": "integer", "minimum":
            1}]}}, "additionalProperties": false}, {"type": "object", "required": ["command"],
            "properties": {"command": {"const": "rename"}, "ids": {"type": "array", "items": {"type":
            "string"}, "maxItems": 1000}, "tags": {"type": "array", "items": {"type": "string"},
            "maxItems": 1000}, "all": {"type": "boolean"}, "states": {"type": "array", "items": {"type":
            "string", "enum": ["waiting", "running", "verifying", "retrying", "waiting_for_network",
            "completed", "failed", "cancelled", "paused"]}, "maxItems": 1000}, "name": {"type": "string"},
            "folder": {"type": "string"}}, "additionalProperties": false}, {"type": "object", "required":
            ["command"], "properties": {"command": {"const": "set"}, "ids": {"type": "array", "items":
            {"type": "string"}, "maxItems": 1000}, "tags": {"type": "array", "items": {"type": "string"},
            "maxItems": 1000}, "all": {"type": "boolean"}, "states": {"type": "array", "items": {"type":
            "string", "enum": ["waiting", "running", "verifying", "retrying", "waiting_for_network",
            "completed", "failed", "cancelled", "paused"]}, "maxItems": 1000}, "urls": {"type": "array",
            "items": {"type": "string"}}, "connections": {"oneOf": [{"type": "integer", "minimum": 1,
            "maximum": 64}, {"type": "string", "pattern": "^auto(:[0-9]+)?$"}]}, "rate_limit": {"type":
            "number"}, "headers": {"type": "array", "items": {"type": "string"}}, "user": {"type":
            "string"}, "retries": {"type": "integer", "minimum": 0, "maximum": 1000}, "options": {"$ref":
            "#/components/schemas/ChangedOptions"}}, "additionalProperties": false}, {"type":
            "object", "required": ["command"], "properties": {"command": {"const": "tag"}, "ids":
            {"type": "array", "items": {"type": "string"}, "maxItems": 1000}, "tags": {"type": "array",
            "items": {"type": "string"}, "maxItems": 1000}, "all": {"type": "boolean"}, "states":
            {"type": "array", "items": {"type": "string", "enum": ["waiting", "running", "verifying",
            "retrying", "waiting_for_network", "completed", "failed", "cancelled", "paused"]}, "maxItems":
            1000}, "add": {"type": "array", "items": {"type": "string"}}, "remove": {"type": "array",
            "items": {"type": "string"}}}, "additionalProperties": false}]},
           "Add": {"type": "object", "required": ["command", "url", "root"], "properties": {"command": {"const":
            "add"}, "id": {"$ref": "#/components/schemas/TaskID"}, "url": {"type": "string"}, "root":
            {"type": "string", "description": "An absolute path in a folder that is open to clients"},
            "folder": {"type": "string"}, "name": {"type": "string"}, "name_given": {"type": "boolean"},
            "options": {"$ref": "#/components/schemas/Options"}, "umask": {"type": "string", "pattern":
            "^[0-7]{1,3}$"}, "tags": {"type": "array", "items": {"type": "string"}}, "paused": {"type":
            "boolean"}, "position": {"oneOf": [{"type": "string", "enum": ["first", "last"]}, {"type":
            "integer", "minimum": 1}]}, "again": {"type": "boolean"},
            "known_anywhere": {"type": "boolean"}, "store_secrets": {"type":
            "boolean"}}, "additionalProperties": false},
           "Options": \#(String(decoding: OptionSchema.added.data, as: UTF8.self)),
           "ChangedOptions": \#(String(decoding: OptionSchema.changed.data, as: UTF8.self)),
           "Results": {"type": "object", "required": ["results"], "properties": {"results": {"type": "array",
            "items": {"type": "array", "items": {"type": "object", "required": ["outcome", "code"],
            "properties": {"id": {"$ref": "#/components/schemas/TaskID"}, "outcome": {"type": "string",
            "enum": ["done", "unchanged", "refused"]}, "message": {"type": "string"}, "member": {"type": "string"}, "step": {"type": "string"}, "code": {"type":
            "integer", "minimum": 0}, "left": {"type": "object", "required": ["path", "bytes"],
            "properties": {"path": {"type": "string"}, "bytes": {"type": "integer", "minimum": 0}}},
            "known": {"type": "object", "required": ["id", "path", "differs"], "properties": {"id":
            {"$ref": "#/components/schemas/TaskID"}, "path": {"type": "string"}, "differs": {"type":
            "array", "items": {"type": "string"}}}}}}}}}},
           "Settings": {"type": "object", "required": [], "properties": {"max_running": {"type": "integer",
            "minimum": 1, "maximum": 64}, "rate_limit": {"type": "number", "minimum": 0},
            "rate_schedule": {"type": "object", "required": ["spans"], "properties": {"spans": {"type":
            "array", "items": {"type": "object", "required": ["start", "end", "rate"], "properties":
            {"start": {"type": "integer", "minimum": 0, "maximum": 1440}, "end": {"type": "integer",
            "minimum": 0, "maximum": 1440}, "rate": {"type": "number", "minimum": 0}},
            "additionalProperties": false}}, "otherwise": {"type": "number", "minimum": 0}},
            "additionalProperties": false}, "retry_delays": {"type": "array", "items": {"type": "number",
            "minimum": 0, "maximum": 86400}, "maxItems": 100}, "rules": {"type": "array", "items":
            {"oneOf": [{"type": "object", "required": ["while", "pause"], "properties": {"while":
            {"type": "string"}, "pause": {"const": true}}, "additionalProperties": false}, {"type":
            "object", "required": ["while", "rate"], "properties": {"while": {"type": "string"}, "rate":
            {"type": "number", "exclusiveMinimum": 0}}, "additionalProperties": false}]}, "maxItems":
            100}, "metered": {"type": "string", "enum": ["auto", "yes", "no"]}}, "additionalProperties":
            false}
          }
         }
        }
        """#
}
