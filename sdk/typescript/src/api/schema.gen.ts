// Generated from docs/openapi.json by `npm run gen` in sdk/typescript. Do not edit.

export interface paths {
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Metrics in the text format of Prometheus. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/plain": string;
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the agents that can be started, with their capabilities. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AgentList"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Stop the processes of all agents. Their sessions can be resumed later. No agent starts until the server has been restarted. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AgentsStopped"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/asks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List asks.
         * @description Pending asks are sorted oldest first, all others newest first. Start a stream at `seq` to miss nothing.
         */
        get: {
            parameters: {
                query?: {
                    /** @description `pending`, `resolved` or the name of one outcome. Defaults to all asks. */
                    status?: string;
                    /** @description Only asks of the session with this id. */
                    session?: string;
                    /** @description Only asks of this kind. */
                    kind?: components["schemas"]["AskKind"];
                    /** @description Only asks with this label, written as `key=value`. */
                    label?: string;
                    /** @description Only asks of this agent. */
                    agent?: string;
                    /** @description Only asks from this directory or a directory below it. */
                    project?: string;
                    /** @description Only asks opened at or after this time. */
                    since?: string;
                    /** @description Only asks opened before this time. */
                    until?: string;
                    /** @description Only asks that contain these words in the request, the messages or the outcome. Case is ignored. */
                    q?: string;
                    /** @description Only asks whose id ends with this text. */
                    idEndsWith?: string;
                    /** @description The maximum number of entries, 1 to 500. */
                    limit?: number;
                    /** @description The `nextCursor` of the previous page. */
                    cursor?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AskPage"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        /** Open an ask: questions, an approval or a link. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewAsk"];
                };
            };
            responses: {
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Ask"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        /** Withdraw the pending ask that you opened with this `dedupeKey`. */
        delete: {
            parameters: {
                query: {
                    /** @description The `dedupeKey` of the ask. */
                    dedupeKey: string;
                    /** @description The reason for the withdrawal, shown to people. */
                    reason?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Ask"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/asks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read one ask. With `wait`, wait for its outcome. */
        get: {
            parameters: {
                query?: {
                    /** @description How long to wait for an outcome, for example `30s`; at most 60 seconds. The response is sent as soon as there is one. */
                    wait?: string;
                    /** @description Whether to include `raw`, the agent's original request. */
                    raw?: boolean;
                };
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Ask"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        /** Withdraw an ask that you opened. */
        delete: {
            parameters: {
                query?: {
                    /** @description The reason for the withdrawal, shown to people. */
                    reason?: string;
                };
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Ask"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/asks/{id}/answer": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Answer the questions of an ask. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["AnswerRequest"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Ask"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/asks/{id}/approve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Approve a tool call, or confirm that a link was opened. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ApproveRequest"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Ask"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/asks/{id}/deny": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Deny a tool call, or decline a link. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NoRequest"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Ask"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/asks/{id}/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the current content of the files that the command of an approval executes.
         * @description Only for tokens that may answer. Content is available only in sessions that this server started.
         */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["AskFiles"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/asks/{id}/precedents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Count earlier decisions of people about the same action as in this approval. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Precedents"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/asks/{id}/receipt": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Collect the outcome of an ask that you opened. The outcome then counts as delivered.
         * @description A secret answer is returned in plain text, only once, and then deleted.
         */
        post: {
            parameters: {
                query?: {
                    /**
                     * @description A name that the caller chooses for itself. Only one taker gets an approval; others get 409 `outcome_taken`. The same
                     *     taker may repeat the call.
                     */
                    taker?: string;
                };
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Ask"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/asks/{id}/reject": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Reject the questions of an ask. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NoRequest"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Ask"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/asks/{id}/snooze": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Snooze an ask: hide it from the inbox for a while without deciding it. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["SnoozeRequest"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Ask"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/attachments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Attach to a server of an agent that someone else started. If the server cannot be reached, the attachment is removed again. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewAttachment"];
                };
            };
            responses: {
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Attachment"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/attachments/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Detach from a server. Its sessions end in Sayso; the server itself keeps running. */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Stream every event that the token can see, as server-sent events. */
        get: {
            parameters: {
                query?: {
                    /**
                     * @description Start after this `seq`. The header `Last-Event-ID` takes precedence. Without either, the stream starts with the next new
                     *     event.
                     */
                    since?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A stream of `Event` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/event-stream": components["schemas"]["Event"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/external": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Report what happened in an agent that a person runs in their own terminal or editor.
         * @description Asks that were decided there are withdrawn. An unknown session has nothing to withdraw.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ExternalNews"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ExternalNewsTaken"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/groups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Open the asks of one pause of a suspended run.
         * @description All asks are opened or none. The reply is 200 if an earlier call with the same `key` opened the group.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewGroup"];
                };
            };
            responses: {
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Group"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/groups/claim": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Claim a complete group. While you hold the claim, only you may resume the run.
         * @description The reply is 204 if no group with this name is complete. Acknowledge before the lease ends, or renew it. Groups belong to the
         *     token that opened them.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ClaimRequest"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Claim"];
                    };
                };
                /** @description No group is complete */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/groups/ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Wait until a group can be claimed.
         * @description Waiting does not claim a group. If several workers wait, one of them is woken for each group.
         */
        get: {
            parameters: {
                query: {
                    /** @description The name of the runs. */
                    name: string;
                    /** @description Wait up to this long (at most 60s) for a complete group, e.g. `30s`. */
                    wait?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ReadyGroups"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/groups/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a group that you opened. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Group"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        /** Withdraw a group that you opened. Its pending asks are withdrawn, and its state is deleted. */
        delete: {
            parameters: {
                query?: {
                    /** @description The reason for the withdrawal, shown to people. */
                    reason?: string;
                };
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Group"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/groups/{id}/ack": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Report that the run was resumed. The state is deleted, and the outcomes count as delivered. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["AckRequest"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Group"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/groups/{id}/release": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Release a claim.
         * @description With `started`, the run may have called tools, so a person decides whether it is resumed again, unless the group has `retry`.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ReleaseRequest"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Group"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/groups/{id}/renew": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Extend the lease of a claim. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["RenewRequest"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Group"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Report whether the server is running. Needs no token. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Health"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/listeners": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the addresses at which the server listens. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ListenerList"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        /**
         * Make the server reachable at a network address, until the listener is closed or the server stops. Does nothing if the
         *     address is already open.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["NewListener"] | null;
                };
            };
            responses: {
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Listener"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/listeners/{address}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Close an address that was opened with `POST /v1/listeners`. Connections to it are closed. */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    address: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Exchange a login code for a token of this browser. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["LoginRequest"];
                };
            };
            responses: {
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["CreatedToken"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/login-codes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Create a login code, which opens the page in a browser once, within ten minutes. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["NewLoginCode"] | null;
                };
            };
            responses: {
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["LoginCode"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/notices": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Send people a message that needs no answer. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewNotice"];
                };
            };
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/notify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the notification channels, without their secrets. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ChannelList"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/notify/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Send a test message through one channel, or through all channels. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["TestChannels"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TestedList"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/outcomes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Stream the outcomes of the asks that you opened, as server-sent events: `question.resolved`, `approval.resolved` and
         *     `link.resolved`.
         * @description One stream serves any number of waiting asks. While it is open, asks with `keep` are not parked. Without `since` the stream
         *     starts with a `reset` that contains the position: read the asks that you wait for once, then follow the stream.
         */
        get: {
            parameters: {
                query?: {
                    /**
                     * @description Start after this `seq`. The header `Last-Event-ID` takes precedence. Without either, the stream starts with the next new
                     *     event.
                     */
                    since?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A stream of `Event` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/event-stream": components["schemas"]["Event"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/policy": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the policy file and the rules in force. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["PolicyView"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        /**
         * Replace the text of the policy file. It takes effect at once.
         * @description An invalid text is refused with the position of the mistake, and the file stays unchanged. If the file has changed since you
         *     read it, the request is refused as well: read the file again and repeat the change.
         */
        put: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["SetPolicy"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["PolicyView"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/policy/edit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Edit the text of a policy without saving it, and read the result as a form.
         * @description Comments and everything that an edit does not concern stay unchanged. Save the text with `PUT /v1/policy`.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["EditPolicy"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["PolicyForm"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/policy/explain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Explain how a policy decides: about one ask, pending asks or past asks. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ExplainRequest"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Explanation"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/policy/grants": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Create a grant, which allows actions for a limited time. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewGrant"];
                };
            };
            responses: {
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Grant"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/policy/grants/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Revoke a grant. It ends at once. */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/policy/hits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Count how often each rule decided an ask or left it to a person. */
        get: {
            parameters: {
                query?: {
                    /** @description The number of days before now, 1 to 366. Defaults to 30. */
                    days?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["RuleHitsList"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/policy/profile": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Switch a profile on or off. */
        put: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["SetProfile"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["PolicyView"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/policy/trust": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Trust a project's `.sayso.toml` in its current state. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["TrustRequest"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Trusted"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/push": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the public key that a browser needs to subscribe to push notifications. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["PushInfo"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        /** Subscribe this browser to push notifications, until its token is revoked. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewPush"];
                };
            };
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        /** Unsubscribe this browser from push notifications. */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List runs, newest first. */
        get: {
            parameters: {
                query?: {
                    /** @description Only runs that have not finished. */
                    open?: boolean;
                    /** @description Only runs whose id ends with this text. */
                    idEndsWith?: string;
                    /** @description The maximum number of entries, 1 to 500. */
                    limit?: number;
                    /** @description The `nextCursor` of the previous page. */
                    cursor?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["RunPage"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        /** Start a run of a workflow. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewRun"];
                };
            };
            responses: {
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Run"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read one run with its steps, their outputs, and its pending asks. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Run"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Cancel a run. Its agents are stopped and its asks withdrawn. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Run"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs/{id}/questions/{qid}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Answer or reject a pending question or checkpoint of a run. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                    qid: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["RunAnswerRequest"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["RunAnswered"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List sessions, newest first. */
        get: {
            parameters: {
                query?: {
                    /** @description Only sessions that have not ended. */
                    open?: boolean;
                    /** @description Only sessions with this label, written as `key=value`. */
                    label?: string;
                    /** @description Only sessions whose id ends with this text. */
                    idEndsWith?: string;
                    /** @description The maximum number of entries, 1 to 500. */
                    limit?: number;
                    /** @description The `nextCursor` of the previous page. */
                    cursor?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SessionPage"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        /** Start a session. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewSession"];
                };
            };
            responses: {
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Session"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read one session with its pending asks. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Session"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        /** Close a session. */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Session"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        /**
         * Change the permission mode or the model of a running session.
         * @description The change takes effect when the agent confirms it, which a `session.status` event reports. If the agent refuses, an `error`
         *     event says why.
         */
        patch: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ChangeSession"];
                };
            };
            responses: {
                202: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Session"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        trace?: never;
    };
    "/v1/sessions/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Stream the events of one session. */
        get: {
            parameters: {
                query?: {
                    /**
                     * @description Start after this `seq`. The header `Last-Event-ID` takes precedence. Without either, the stream starts with the next new
                     *     event.
                     */
                    since?: number;
                };
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A stream of `Event` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/event-stream": components["schemas"]["Event"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{id}/interrupt": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Interrupt the current turn. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Session"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{id}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Send a message to the agent. It answers the pending question if there is exactly one; without pending asks, it is a prompt. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["MessageRequest"];
                };
            };
            responses: {
                202: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["MessageAccepted"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Resume a session that has ended. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Session"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{id}/transcript": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the transcript of a session. */
        get: {
            parameters: {
                query?: {
                    /** @description The maximum number of blocks, 1 to 500. */
                    limit?: number;
                    /** @description The `nextCursor` of the previous page. */
                    cursor?: string;
                };
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Transcript"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{sid}/approve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Approve a tool call. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    sid: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ToolCallRef"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Ok"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{sid}/deny": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Deny a tool call. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    sid: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ToolCallRef"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Ok"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{sid}/questions/{qid}/reject": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Reject a question of a session. The body may be empty. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    sid: string;
                    qid: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{sid}/questions/{qid}/reply": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Reply to a question of a session. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    sid: string;
                    qid: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["QuestionReplyRequest"];
                };
            };
            responses: {
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{sid}/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Stream a session as `{type, data}`. A new stream starts with the pending asks. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    sid: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A stream of `GatewayEvent` */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/event-stream": components["schemas"]["GatewayEvent"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{sid}/submit-answers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Answer the questions of a tool call, by position. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    sid: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["SubmitAnswers"];
                };
            };
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Ok"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the tokens, without their secrets. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["TokenList"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        put?: never;
        /** Create a token. Its secret is shown only in this response. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewToken"];
                };
            };
            responses: {
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["CreatedToken"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tokens/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Revoke a token. It becomes invalid at once. */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Token"];
                    };
                };
                "4XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
                "5XX": {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Problem"];
                    };
                };
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description Reports that the run was resumed. The state is deleted. */
        AckRequest: {
            /**
             * Format: int64
             * @description The epoch of the claim.
             */
            epoch: number;
        };
        /**
         * @description What a tool call would do, in categories that are the same for all agents.
         * @enum {string}
         */
        ActionKind: "run" | "edit" | "read" | "fetch" | "mcp" | "plan" | "mode" | "other";
        /** @description A profile that is switched on. */
        ActiveProfile: {
            /** @description The name of the profile. */
            name: string;
            /**
             * Format: date-time
             * @description When the profile switches off by itself. Absent if it stays on.
             */
            until?: string | null;
        };
        /** @description The person or mechanism that decided an ask. */
        Actor: {
            /** @description `person`, `policy`, `timeout`, `message` or `agent`. */
            kind: string;
            /** @description The name of the person. */
            name?: string | null;
            /** @description The surface that the person used, for example `terminal`, `page` or `http`. */
            via?: string | null;
            /** @description The id of the token that the person used. */
            tokenId?: string | null;
            /** @description The policy rule that decided. */
            rule?: string | null;
            /** @description For timeouts: how long the ask was pending. */
            after?: string | null;
        };
        /** @description An agent that Sayso can start. */
        Agent: {
            /** @description The name of the agent. */
            name: string;
            /** @description The protocol between Sayso and the agent. */
            protocol: string;
            /** @description Whether the program of the agent is in the server's `PATH`. */
            installed: boolean;
            /** @description The command that starts the agent. */
            command?: string | null;
            /** @description How to install the agent. */
            install?: string | null;
            /** @description What the agent supports. */
            capabilities: components["schemas"]["Capabilities"];
            /** @description Servers of this agent that someone else started and that Sayso is attached to. */
            attached?: components["schemas"]["Attachment"][];
        };
        /** @description All configured agents. */
        AgentList: {
            /** @description The agents with their capabilities. */
            data: components["schemas"]["Agent"][];
        };
        /** @description A question of a step's agent got its outcome from a person, a rule, a policy default or a timeout. */
        AgentQuestionAnsweredEvent: {
            /**
             * Format: int64
             * @description The position in the feed. Absent for events that are sent to live subscribers only.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description The time of the event.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "agent_question_answered";
            /** @description The session that the event belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["QuestionAnswered"];
        };
        /** @description The agent of a step asked a question that needs a person. */
        AgentQuestionAskedEvent: {
            /**
             * Format: int64
             * @description The position in the feed. Absent for events that are sent to live subscribers only.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description The time of the event.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "agent_question_asked";
            /** @description The session that the event belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["QuestionAsked"];
        };
        /** @description The result of stopping all agents. */
        AgentsStopped: {
            /** @description The number of agents that were running. */
            stopped: number;
        };
        /** @description Answers all questions of an ask. */
        AnswerRequest: {
            /** @description One list per question, in order. Entries are option values, option labels or free text. */
            answers: string[][];
            /** @description A note for the agent, in addition to the answers. */
            note?: string | null;
        };
        /** @description A request to use a tool with the given input. */
        Approval: {
            /** @description The name of the tool, as the agent calls it. */
            tool: string;
            /** @description The category of the action. */
            action: components["schemas"]["ActionKind"];
            /** @description For `run`: the command line. */
            command?: string | null;
            /** @description For `edit` and `read`: the paths of the files. */
            paths?: string[];
            /** @description For `fetch`: the URL. */
            url?: string | null;
            /** @description For `mcp`: the name of the MCP server. */
            server?: string | null;
            /** @description A one-line description of the action. Generated from the action if empty. */
            title?: string;
            /** @description The input of the tool, as the agent sent it. */
            input?: Record<string, unknown>;
            preview?: components["schemas"]["Preview"] | null;
            /** @description Ways of approving that the agent offers. Empty if there is only one. */
            choices?: components["schemas"]["Choice"][];
            /** @description Whether the agent accepts a different `input` with the approval. */
            editable?: boolean;
            /**
             * @description The decisions that people can make. Defaults to `approve` and `deny`, and `edit` if `editable` is set. With `edit` in the
             *     list, `editable` is set. Rules and deadlines can always deny.
             */
            allowedDecisions?: components["schemas"]["ApprovalDecision"][] | null;
            /** @description A JSON Schema that a changed `input` has to fit, at most 32 KiB and without references to other documents. */
            inputSchema?: Record<string, unknown> | null;
            /** @description The agent's explanation of why it asks. */
            reason?: string | null;
        };
        /**
         * @description A decision that a person can make about an approval.
         * @enum {string}
         */
        ApprovalDecision: "approve" | "edit" | "deny";
        /**
         * @description What happens to an approval that no rule decides.
         * @enum {string}
         */
        ApprovalDefault: "allow" | "ask" | "deny";
        /** @description Settings for approvals that no rule matches. Missing fields are inherited from the enclosing scope. */
        ApprovalDefaults: {
            policy?: components["schemas"]["ApprovalDefault"] | null;
            /** @description How long a person has to decide. At the deadline, Sayso denies the approval. */
            timeout?: string | null;
            /** @description The message to an agent whose approval is denied. */
            message?: string | null;
        };
        /** @description An approval needs a decision from a person. */
        ApprovalRequestedEvent: {
            /**
             * Format: int64
             * @description The position in the feed. Absent for events that are sent to live subscribers only.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description The time of the event.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "approval.requested";
            /** @description The session that the event belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["AskEvent"];
        };
        /** @description An approval got its outcome. */
        ApprovalResolvedEvent: {
            /**
             * Format: int64
             * @description The position in the feed. Absent for events that are sent to live subscribers only.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description The time of the event.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "approval.resolved";
            /** @description The session that the event belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["AskEvent"];
        };
        /** @description Approves an approval or link. */
        ApproveRequest: {
            /**
             * @description The `id` of one of the agent's choices.
             * @default null
             */
            choice?: string | null;
            /** @description Replaces the tool's input. Only for approvals with `editable`. */
            input?: Record<string, unknown> | null;
            /**
             * @description The `digest` of the files that the person saw (`GET /v1/asks/{id}/files`). If the files have changed, the response is
             *     409 `content_changed`. Without it, the server compares the files with their content when the ask was opened.
             * @default null
             */
            contentDigest?: string | null;
        };
        /** @description Something that an agent needs a person to decide. */
        Ask: {
            /** @description The unique id of the ask. */
            id: string;
            /** @description The id of the session. Absent for asks that programs open without one. */
            sessionId?: string | null;
            /** @description The name of the agent. */
            agent: string;
            /** @description The name of the token that opened the ask. Absent if an agent of a session asked. */
            askedBy?: string | null;
            /** @description Whether `agent` is only claimed by the caller, because its token is not limited to that agent. */
            agentReported?: boolean;
            /** @description The kind of the ask. */
            kind: components["schemas"]["AskKind"];
            /** @description The status of the ask. */
            status: components["schemas"]["AskStatus"];
            reach?: components["schemas"]["Reach"] | null;
            /** @description The id that the agent gave the tool call, or the id of the ask if there is none. */
            toolCallId: string;
            /** @description The title of the session. */
            title: string;
            /** @description The project directory. */
            project?: string | null;
            /** @description The git branch of the project. */
            branch?: string | null;
            /** @description The name of the sub-agent that asks. */
            subagent?: string | null;
            /** @description What the agent said before it asked. */
            context?: string | null;
            /** @description Whether the agent waits for the outcome. */
            blocking: boolean;
            /**
             * Format: date-time
             * @description When the ask was opened.
             */
            openedAt: string;
            /**
             * Format: date-time
             * @description When the ask is decided automatically. Absent if it has no deadline.
             */
            deadlineAt?: string | null;
            onTimeout?: components["schemas"]["OnTimeout"] | null;
            /**
             * Format: date-time
             * @description When the ask returns to the inbox, if it is snoozed.
             */
            snoozedUntil?: string | null;
            /** @description The labels of the ask. */
            labels: {
                [key: string]: string;
            };
            /** @description The id of the workflow run. */
            runId?: string | null;
            /** @description The id of the workflow step. */
            stepId?: string | null;
            /** @description Why the policy left the ask to a person. */
            why?: string | null;
            whyCode?: components["schemas"]["TextCode"] | null;
            /** @description The questions of an ask of kind `question`. */
            questions?: components["schemas"]["Question"][];
            approval?: components["schemas"]["Approval"] | null;
            link?: components["schemas"]["Link"] | null;
            /**
             * @description SHA-256 of the request, as 64 hexadecimal digits. For an approval it covers the tool, the command or arguments, the
             *     directory, the agent and the project. Cards show its first 12 digits.
             */
            digest?: string | null;
            executes?: components["schemas"]["ExecutedCode"] | null;
            outcome?: components["schemas"]["Outcome"] | null;
            delivery?: components["schemas"]["Delivery"] | null;
            /** @description Why the outcome was withheld or is undeliverable. */
            deliveryReason?: string | null;
            deliveryCode?: components["schemas"]["TextCode"] | null;
            /** @description Whether an event left out a part of the ask because of its size. `GET /v1/asks/{id}` returns the complete ask. */
            truncated?: boolean;
            /** @description The agent's original request. Present only with `raw=true`. */
            raw?: Record<string, unknown> | null;
        };
        /** @description The payload of `ask.delivery`. */
        AskDelivery: {
            /** @description The id of the ask. */
            id: string;
            /** @description How far the outcome has travelled to the agent. */
            delivery: components["schemas"]["Delivery"];
            /** @description Why the outcome was withheld or is undeliverable. */
            deliveryReason?: string | null;
            deliveryCode?: components["schemas"]["TextCode"] | null;
        };
        /** @description The delivery of an outcome to the agent progressed or failed. */
        AskDeliveryEvent: {
            /**
             * Format: int64
             * @description The position in the feed. Absent for events that are sent to live subscribers only.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description The time of the event.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "ask.delivery";
            /** @description The session that the event belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["AskDelivery"];
        };
        /** @description The payload of events about an ask. */
        AskEvent: components["schemas"]["Ask"] & {
            question?: components["schemas"]["QuestionEventData"] | null;
        };
        /** @description The content of one file. */
        AskFile: {
            /** @description The absolute path. */
            path: string;
            /**
             * @description The first 16 KiB of the content. Absent if the file is not text, does not exist, is outside of the project, is reached
             *     through a link or is larger than 1 MiB.
             */
            text?: string | null;
            /** @description Whether `text` is incomplete. */
            truncated?: boolean;
            /**
             * Format: int64
             * @description The size of the complete file in bytes.
             */
            size?: number | null;
            /** @description BLAKE3 hash of the complete file. */
            digest?: string | null;
        };
        /** @description The current content of the files that an ask executes. Only tokens that may answer can read it. */
        AskFiles: {
            /** @description Digest of all files. Send it as `contentDigest` with the approval. Absent if the server does not read the files. */
            digest?: string | null;
            /**
             * @description The files, in the order of `executes`. A missing file is left out if a file of the same name exists elsewhere in the
             *     list.
             */
            files: components["schemas"]["AskFile"][];
            /** @description Whether the command also executes files that are not in the list. */
            unlisted?: boolean;
        };
        /**
         * @description The kind of an ask, which determines how it can be decided.
         * @enum {string}
         */
        AskKind: "question" | "approval" | "link";
        /** @description One page of a list of asks. */
        AskPage: {
            /** @description The asks. Pending asks are sorted oldest first, all other lists newest first. */
            data: components["schemas"]["Ask"][];
            /** @description The `cursor` of the next page. Absent on the last page. */
            nextCursor?: string | null;
            /**
             * Format: int64
             * @description The feed position at which the list was read. Stream with `since` set to this value to miss nothing.
             */
            seq: number;
            /**
             * Format: int64
             * @description The total number of pending asks that the token can see.
             */
            pending?: number | null;
            /** @description Whether the page has fewer than `limit` entries because it reached its size limit in bytes. */
            truncated?: boolean;
        };
        /** @description The payload of `ask.parked`. */
        AskParked: {
            /** @description The id of the ask. */
            id: string;
            /** @description Whether the agent still waits. */
            reach: components["schemas"]["Reach"];
        };
        /** @description An ask was parked, or became live again. */
        AskParkedEvent: {
            /**
             * Format: int64
             * @description The position in the feed. Absent for events that are sent to live subscribers only.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description The time of the event.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "ask.parked";
            /** @description The session that the event belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["AskParked"];
        };
        /** @description The payload of `ask.snoozed`. */
        AskSnoozed: {
            /** @description The id of the ask. */
            id: string;
            /**
             * Format: date-time
             * @description When the ask returns to the inbox. `null` if it has returned.
             */
            snoozedUntil?: string | null;
        };
        /** @description An ask was snoozed, or returned to the inbox. */
        AskSnoozedEvent: {
            /**
             * Format: int64
             * @description The position in the feed. Absent for events that are sent to live subscribers only.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description The time of the event.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "ask.snoozed";
            /** @description The session that the event belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["AskSnoozed"];
        };
        /**
         * @description The status of an ask: pending, or the kind of its outcome.
         * @enum {string}
         */
        AskStatus: "pending" | "answered" | "rejected" | "approved" | "denied" | "withdrawn";
        /** @description A server of an agent that someone else started and that Sayso is attached to. */
        Attachment: {
            /** @description The unique id of the attachment. */
            id: string;
            /** @description The name of the agent. */
            agent: string;
            /** @description The URL of the server, or the path of its socket. */
            place: string;
            /** @description The state of the connection. */
            state: components["schemas"]["AttachmentState"];
            /** @description Why the server cannot be reached. */
            problem?: string | null;
            /** @description The version that the server reports. */
            version?: string | null;
            /** @description What the agent supports when Sayso is attached to it. */
            capabilities: components["schemas"]["Capabilities"];
        };
        /**
         * @description The state of the connection to an attached server.
         * @enum {string}
         */
        AttachmentState: "connecting" | "connected" | "unreachable";
        /** @description What an agent supports. */
        Capabilities: {
            /** @description The agent asks questions. */
            questions: boolean;
            /** @description The agent asks before it uses tools. */
            approvals: boolean;
            /** @description The agent asks before it leaves plan mode. */
            plans: boolean;
            /** @description The agent sends forms and links. */
            elicitation: boolean;
            /** @description Sessions can be resumed after they ended. */
            resume: boolean;
            /** @description Pending asks stay answerable when the server restarts. */
            survivesRestart: boolean;
            /** @description A typed message can answer an ask with several questions. */
            messageAnswersSets: boolean;
            /** @description The permission mode and the model can be changed while a session runs. */
            changeSettings?: boolean;
        };
        /** @description The TLS certificate that the server presents to other devices. */
        Certificate: {
            /** @description The path of the certificate file. */
            file: string;
            /**
             * Format: date-time
             * @description When the certificate expires.
             */
            expiresAt?: string | null;
            /** @description Why the current files cannot be loaded. While set, the server keeps using the certificate that it loaded last. */
            problem?: string | null;
        };
        /** @description Changes the permission mode or the model of a session. Fields that are left out keep their value. */
        ChangeSession: {
            /**
             * @description The new permission mode. Only admins can set a mode that skips approvals.
             * @default null
             */
            permissionMode?: string | null;
            /**
             * @description The model to switch to.
             * @default null
             */
            model?: string | null;
        };
        /** @description A notification channel, without its secrets. */
        Channel: {
            /** @description The name in the configuration. */
            name: string;
            /** @description The type of the channel, for example `webhook`, `ntfy` or `telegram`. */
            kind: string;
            /** @description How long an ask stays pending before this channel is used. Absent if only the `then` of another channel leads here. */
            after?: string | null;
            then?: components["schemas"]["Then"] | null;
            /** @description The hours of the day in which the channel sends nothing. */
            quiet?: string | null;
            /** @description Whether messages include the text of the ask, and not only the name of the agent. */
            content: boolean;
            /** @description The person to whom answers through this channel's links are attributed. */
            person?: string | null;
            /** @description Whether the receiver reported that it no longer exists. The channel sends nothing until the server restarts. */
            gone: boolean;
            /** @description The error of the last attempt, if it failed. */
            lastFailure?: string | null;
        };
        /** @description All configured notification channels. */
        ChannelList: {
            /** @description The channels, in the order of the configuration. */
            data: components["schemas"]["Channel"][];
        };
        /**
         * @description The type of answer that a checkpoint accepts.
         * @enum {string}
         */
        CheckpointInput: "choice" | "text" | "number" | "yes-no";
        /** @description An option of a checkpoint: a label, or a label with a description. */
        CheckpointOption: string | {
            /** @description The text to display, which is also the answer. */
            label: string;
            /** @description A longer explanation of the option. */
            description?: string | null;
        };
        /** @description A way of approving that the agent offers, such as "Allow for this session". */
        Choice: {
            /** @description The value to send as `choice` of an approval. */
            id: string;
            /** @description The text to display. */
            label: string;
        };
        /** @description The right to resume one run. */
        Claim: {
            /** @description The group with the outcomes of its asks. Secret answers are in plain text. */
            group: components["schemas"]["Group"];
            /**
             * Format: int64
             * @description The number of this claim. Send it with every report. A later claim of the group has a larger epoch.
             */
            epoch: number;
            /** @description The state that was stored with the group. */
            state?: string | null;
            /** @description The short text that was stored with the group. */
            resumeRef?: string | null;
        };
        /** @description Claims one complete group: the oldest one with a name, or one by id. */
        ClaimRequest: {
            /**
             * @description Claim the oldest complete group with this name.
             * @default null
             */
            name?: string | null;
            /**
             * @description Claim the group with this id.
             * @default null
             */
            group?: string | null;
            /**
             * @description The name of the worker. It is shown to the person who decides about an uncertain claim.
             * @default
             */
            worker?: string;
            /**
             * @description The lease: the claim expires after this time without a renewal, e.g. `60s` (the default), at most `1h`.
             * @default null
             */
            lease?: string | null;
        };
        /** @description A new token with its secret, which is shown only in this response. */
        CreatedToken: components["schemas"]["Token"] & {
            /**
             * @description The secret to send as the bearer token. Absent when the request repeats an earlier one with the same `Idempotency-Key`,
             *     because a secret is shown only once.
             */
            token?: string | null;
        };
        /**
         * @description The progress of the delivery of an outcome to the agent.
         * @enum {string}
         */
        Delivery: "queued" | "delivered" | "confirmed" | "withheld" | "undeliverable";
        /** @description Applies edits to a policy text, which does not have to be saved. The policy file stays unchanged. */
        EditPolicy: {
            /** @description The complete policy text to edit. */
            text: string;
            /** @description The edits, applied in this order; at most 100. An empty list only parses the text. */
            edits?: components["schemas"]["PolicyEdit"][];
        };
        /** @description The payload of `error`: the error as a block of the transcript. */
        ErrorBlock: {
            /** @description The id of the block. */
            id: string;
            /**
             * Format: date-time
             * @description When the error happened.
             */
            at: string;
            /** @description The name of the sub-agent in which the error happened. */
            subagent?: string | null;
            /** @description Always `error`. */
            type?: components["schemas"]["ErrorType"];
            /** @description A description of the error for people. */
            text: string;
        };
        /**
         * @description Identifies the kind of error. Codes are stable, so clients should branch on the code and never on the text.
         * @enum {string}
         */
        ErrorCode: "malformed_request" | "invalid_request" | "unauthorized" | "forbidden" | "identity_refused" | "foreign_origin" | "foreign_host" | "not_found" | "ask_not_found" | "session_not_found" | "run_not_found" | "question_not_found" | "method_not_allowed" | "ask_already_resolved" | "content_changed" | "ask_pending" | "wrong_kind" | "invalid_answers" | "decision_not_allowed" | "invalid_input" | "invalid_schema" | "invalid_link" | "link_expired" | "session_ended" | "run_ended" | "not_resumable" | "settings_fixed" | "not_decided" | "external_session" | "idempotency_key_reused" | "dedupe_key_reused" | "outcome_taken" | "group_not_found" | "group_not_ready" | "group_ended" | "claim_lost" | "state_unreadable" | "unknown_callback" | "limit_exceeded" | "too_large" | "byte_quota_exceeded" | "request_timeout" | "rate_limited" | "invalid_policy" | "policy_changed" | "invalid_workflow" | "unknown_agent" | "agent_not_installed" | "agent_unreachable" | "directory_not_allowed" | "storage_full" | "shutting_down" | "internal";
        /** @description An error happened in a session. */
        ErrorEvent: {
            /**
             * Format: int64
             * @description The position in the feed. Absent for events that are sent to live subscribers only.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description The time of the event.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "error";
            /** @description The session that the event belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["ErrorBlock"];
        };
        /**
         * @description The value of the `type` field.
         * @enum {string}
         */
        ErrorType: "error";
        /** @description One event as a stream sends it in its `data:` line. Ignore events with an unknown `type`. */
        Event: components["schemas"]["QuestionRequestedEvent"] | components["schemas"]["QuestionResolvedEvent"] | components["schemas"]["ApprovalRequestedEvent"] | components["schemas"]["ApprovalResolvedEvent"] | components["schemas"]["LinkRequestedEvent"] | components["schemas"]["LinkResolvedEvent"] | components["schemas"]["AskParkedEvent"] | components["schemas"]["AskSnoozedEvent"] | components["schemas"]["AskDeliveryEvent"] | components["schemas"]["SessionCreatedEvent"] | components["schemas"]["SessionStatusEvent"] | components["schemas"]["SessionEndedEvent"] | components["schemas"]["MessageDeltaEvent"] | components["schemas"]["MessageCompletedEvent"] | components["schemas"]["ToolStartedEvent"] | components["schemas"]["ToolUpdatedEvent"] | components["schemas"]["ToolCompletedEvent"] | components["schemas"]["NoticeEvent"] | components["schemas"]["ErrorEvent"] | components["schemas"]["PolicyChangedEvent"] | components["schemas"]["RunStartedEvent"] | components["schemas"]["RunCompletedEvent"] | components["schemas"]["RunFailedEvent"] | components["schemas"]["RunCancelledEvent"] | components["schemas"]["StepStartedEvent"] | components["schemas"]["StepCompletedEvent"] | components["schemas"]["StepFailedEvent"] | components["schemas"]["StepCancelledEvent"] | components["schemas"]["AgentQuestionAskedEvent"] | components["schemas"]["AgentQuestionAnsweredEvent"] | components["schemas"]["ResetEvent"];
        /** @description The project files that a command executes, as far as the command line names them. */
        ExecutedCode: {
            /** @description Absolute paths, at most eight. */
            files: string[];
            /**
             * @description Whether the command also executes files that the list cannot name, such as files of a build tool or names computed by
             *     the shell.
             */
            unlisted?: boolean;
            /** @description Whether the server can read the files. It reads files only for sessions that it started. */
            readable?: boolean;
        };
        /** @description Asks how a policy decides: one ask (`askId`), all pending asks (`pending`) or past asks (`history`). */
        ExplainRequest: {
            /**
             * @description The ask to explain.
             * @default null
             */
            askId?: string | null;
            /**
             * @description A policy text to evaluate instead of the policy in force.
             * @default null
             */
            policy?: string | null;
            /**
             * @description Explain the decision for every pending ask.
             * @default false
             */
            pending?: boolean;
            /**
             * Format: int32
             * @description Explain the decision for the most recent asks. The number of asks, 1 to 1000.
             * @default null
             */
            history?: number | null;
        };
        /** @description The decision of a policy about one ask. */
        Explained: {
            /** @description The id of the ask. */
            askId: string;
            /** @description A one-line description of the ask. */
            summary: string;
            /** @description The actual status of the ask. */
            status: components["schemas"]["AskStatus"];
            /** @description `approve`, `deny`, `answer`, `reject`, or `ask` if a person has to decide. */
            verdict: string;
            /** @description The rule or setting that decides, or the reason why a person has to. */
            because: string;
            /** @description Every rule that was evaluated. Present only when `askId` was given. */
            considered?: Record<string, unknown> | null;
        };
        /** @description The decisions of a policy. */
        Explanation: {
            /** @description One entry per explained ask. */
            data: components["schemas"]["Explained"][];
            /** @description Whether asks are missing because the response would be too large or take too long. */
            truncated?: boolean;
        };
        /**
         * @description Something that happened in an external agent.
         * @enum {string}
         */
        ExternalEvent: "toolDone" | "prompted" | "turnEnded" | "ended";
        /** @description Reports an event of an external agent, so that Sayso can withdraw asks that were decided in its terminal. */
        ExternalNews: {
            /** @description The name of the agent. */
            agent: string;
            /** @description The id that the agent gave the session. */
            sessionId: string;
            /** @description The event to report. */
            event: components["schemas"]["ExternalEvent"];
            /** @description With `toolDone`: a prefix of the `dedupeKey` of asks about this tool call. */
            dedupeKey?: string | null;
        };
        /** @description The result of reporting an event. */
        ExternalNewsTaken: {
            /** @description The ids of the asks that were withdrawn. */
            withdrawn: string[];
        };
        /** @description The session of an external agent, as the agent identifies it. */
        ExternalSession: {
            /** @description The name of the agent, for example `claude`. */
            agent: string;
            /** @description The id that the agent gave the session. */
            sessionId: string;
            /** @description The working directory, as an absolute path. Sayso reads the project policy from there. */
            cwd: string;
            /** @description The first line of the first prompt. */
            title?: string | null;
            /** @description The git branch. Defaults to the branch of `cwd`. */
            branch?: string | null;
        };
        /** @description The change to one file. */
        FileDiff: {
            /** @description The path of the file, as the agent sent it. */
            path: string;
            /** @description A unified diff, exactly as the agent sent it. */
            diff: string;
        };
        /** @description A rule with its place in the file. */
        FormRule: {
            /** @description The place of the rule, counted from 1. */
            place: number;
            /** @description The key of the rule in past decisions: its id, or its label if it has no id. See `GET /v1/policy/hits`. */
            key: string;
            /** @description The label to display: the rule's name, or its place if it has no name. */
            label: string;
            /** @description The content of the rule. */
            rule: components["schemas"]["PolicyRule"];
        };
        /** @description An event of the gateway's stream. */
        GatewayEvent: {
            /** @description A fragment of assistant text. */
            data: {
                /** @description The text to append to the message. */
                text: string;
            };
            /** @enum {string} */
            type: "text_delta";
        } | {
            /** @description The agent started a tool call. */
            data: {
                /** @description The id that the agent gave the tool call. */
                toolCallId: string;
                /** @description The name of the tool. */
                toolName: string;
            };
            /** @enum {string} */
            type: "tool_call_start";
        } | {
            /** @description The arguments of a tool call. */
            data: {
                /** @description The id that the agent gave the tool call. */
                toolCallId: string;
                /** @description The arguments as JSON text. */
                input: string;
            };
            /** @enum {string} */
            type: "tool_call_delta";
        } | {
            /** @description The arguments of the tool call are complete. */
            data: {
                /** @description The id that the agent gave the tool call. */
                toolCallId: string;
            };
            /** @enum {string} */
            type: "tool_call_end";
        } | {
            /** @description The tool call finished. */
            data: {
                /** @description The id that the agent gave the tool call. */
                toolCallId: string;
                /** @description The name of the tool. */
                toolName: string;
                /** @description The output of the tool. */
                result: string;
                /** @description `complete` or `error`. */
                status: string;
            };
            /** @enum {string} */
            type: "tool_result";
        } | {
            /** @description The agent needs approval before it runs a tool. */
            data: {
                /** @description The id that the agent gave the tool call. */
                toolCallId: string;
                /** @description The name of the tool. */
                toolName: string;
                /** @description The tool's arguments as JSON text. */
                input: string;
            };
            /** @enum {string} */
            type: "approval_required";
        } | {
            /** @description The agent asked questions and waits for the answers. */
            data: {
                /** @description The id that the agent gave the tool call. */
                toolCallId: string;
                /** @description The questions to answer. */
                questions: components["schemas"]["QuestionItem"][];
            };
            /** @enum {string} */
            type: "question_prompt";
        } | {
            /** @description An error in the session. */
            data: {
                /** @description A description of the error for people. */
                message: string;
            };
            /** @enum {string} */
            type: "error";
        } | {
            /** @description The agent finished its turn. */
            data: {
                /** @description The id of the session. */
                sessionId: string;
            };
            /** @enum {string} */
            type: "done";
        } | {
            /** @description The status of the session changed. */
            data: {
                /** @description The id of the session. */
                sessionId: string;
                /** @description `running`, `waiting`, `idle`, `stalled`, `ended` or `failed`. */
                status: string;
            };
            /** @enum {string} */
            type: "session_status";
        };
        /** @description A temporary rule that allows actions. */
        Grant: {
            /** @description The id of the grant. */
            id: string;
            /** @description Patterns of the commands that the grant allows. */
            run: string[];
            /** @description Patterns of the files that may be changed. */
            edit?: string[];
            /** @description Patterns of the files that may be read. */
            read?: string[];
            /** @description Patterns of the addresses that may be fetched. */
            fetch?: string[];
            /** @description Patterns of MCP tools, as `server/tool`. */
            mcp?: string[];
            /** @description Names of tools, as the agent calls them. */
            tool?: string[];
            /** @description The directory that the grant is limited to. */
            project?: string | null;
            /**
             * Format: date-time
             * @description When the grant ends. Absent if it does not end by itself.
             */
            until?: string | null;
        };
        /** @description One group. The state is not part of it. */
        Group: {
            /** @description The unique id of the group. */
            id: string;
            /** @description The name of the runs that the group belongs to. */
            name: string;
            /** @description The key that you gave the pause. */
            key?: string | null;
            /** @description The status of the group. */
            status: components["schemas"]["GroupStatus"];
            /** @description The asks of the group, in the order of the request. */
            asks: components["schemas"]["Ask"][];
            /**
             * Format: int64
             * @description The number of the last claim; 0 if there was none.
             */
            epoch: number;
            /** @description The worker of the last claim, while that worker has the group or the claim is uncertain. */
            worker?: string | null;
            /**
             * Format: date-time
             * @description When the lease of the claim expires.
             */
            leaseUntil?: string | null;
            /** @description The ask that decides about an uncertain claim. */
            uncertainAsk?: string | null;
            /** @description Whether another worker can claim the group when a lease expires. */
            retry: boolean;
            /** @description The target that is called when the group is complete. */
            callback?: string | null;
            /**
             * Format: date-time
             * @description When the group was opened.
             */
            openedAt: string;
        };
        /**
         * @description The status of a group.
         * @enum {string}
         */
        GroupStatus: "pending" | "ready" | "claimed" | "uncertain" | "acknowledged" | "abandoned" | "withdrawn" | "expired";
        /** @description The state of the server. */
        Health: {
            /** @description `ok`, or `storage_full` if the disk is full. */
            status: string;
            /** @description The version of the server. */
            version: string;
        };
        /**
         * @description What happens to a step whose agent exits before its turn ends.
         * @enum {string}
         */
        IfAgentDies: "fail" | "retry";
        /**
         * @description What happens to a message while asks are pending that it cannot answer.
         * @enum {string}
         */
        IfPending: "refuse" | "queue";
        /**
         * @description The type of answer that a question accepts.
         * @enum {string}
         */
        InputKind: "choice" | "text" | "number" | "yesNo";
        /** @description An option in the gateway dialect. */
        ItemOption: {
            /** @description The text to display, and the value to send back. */
            label: string;
            /** @description A longer explanation of the option. */
            description?: string | null;
        };
        /** @description A request to open a URL in a browser. */
        Link: {
            /** @description The complete URL. */
            url: string;
            /** @description The agent's explanation of why the URL should be opened. */
            message?: string | null;
        };
        /** @description A link needs a decision from a person. */
        LinkRequestedEvent: {
            /**
             * Format: int64
             * @description The position in the feed. Absent for events that are sent to live subscribers only.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description The time of the event.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "link.requested";
            /** @description The session that the event belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["AskEvent"];
        };
        /** @description A link got its outcome. */
        LinkResolvedEvent: {
            /**
             * Format: int64
             * @description The position in the feed. Absent for events that are sent to live subscribers only.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description The time of the event.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "link.resolved";
            /** @description The session that the event belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["AskEvent"];
        };
        /** @description One address at which the server listens. */
        Listener: {
            /** @description The IP address and port, for example `127.0.0.1:4517`. */
            address: string;
            /** @description The URL that reaches the server at this address. */
            url: string;
            /** @description Whether this is the address that the server was started with. It cannot be closed. */
            main: boolean;
        };
        /** @description All addresses at which the server listens. */
        ListenerList: {
            /** @description The listeners; the one that the server was started with comes first. */
            data: components["schemas"]["Listener"][];
            /** @description The URL for other devices, if `public_url` is configured. */
            publicUrl?: string | null;
            /** @description The address of this machine in its local network, if it has one. */
            suggested?: string | null;
            certificate?: components["schemas"]["Certificate"] | null;
        };
        /** @description A code that signs a browser in. It works once. */
        LoginCode: {
            /** @description The code to send to `POST /v1/login`. */
            code: string;
            /** @description The URL that opens the page and redeems the code. */
            url: string;
            /**
             * Format: date-time
             * @description When the code expires.
             */
            expiresAt: string;
        };
        /** @description Exchanges a login code for a token that belongs to this browser. */
        LoginRequest: {
            /** @description The login code. */
            code: string;
            /** @description A name for this browser, shown in the list of tokens. */
            device?: string | null;
        };
        /** @description The result of sending a message. */
        MessageAccepted: {
            /** @description The id of the message in the transcript. */
            messageId: string;
            answered?: components["schemas"]["Ask"] | null;
        };
        /** @description The payload of `message.completed`: the message as a block of the transcript. */
        MessageBlock: {
            /** @description The id of the block. */
            id: string;
            /**
             * Format: date-time
             * @description When the message was written.
             */
            at: string;
            /** @description The name of the sub-agent that wrote the message. */
            subagent?: string | null;
            /** @description Always `message`. */
            type?: components["schemas"]["MessageType"];
            /** @description The author of the message. */
            role: components["schemas"]["MessageRole"];
            /** @description The text of the message. */
            text: string;
        };
        /** @description A message is complete. */
        MessageCompletedEvent: {
            /**
             * Format: int64
             * @description The position in the feed. Absent for events that are sent to live subscribers only.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description The time of the event.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "message.completed";
            /** @description The session that the event belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["MessageBlock"];
        };
        /** @description The payload of `message.delta`. */
        MessageDelta: {
            /** @description The id of the message. `message.completed` has the same id. */
            messageId: string;
            /** @description The text to append to the message. */
            text: string;
        };
        /** @description A fragment of a message. Sent to live subscribers only: it has no `seq` and is not stored. */
        MessageDeltaEvent: {
            /**
             * Format: int64
             * @description The position in the feed. Absent for events that are sent to live subscribers only.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description The time of the event.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "message.delta";
            /** @description The session that the event belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["MessageDelta"];
        };
        /** @description Sends a message to the agent. */
        MessageRequest: {
            /** @description The text of the message. */
            text: string;
            /** @description What happens to the message while asks are pending that it cannot answer. */
            ifPending?: components["schemas"]["IfPending"];
        };
        /**
         * @description The author of a message.
         * @enum {string}
         */
        MessageRole: "user" | "assistant";
        /**
         * @description The value of the `type` field.
         * @enum {string}
         */
        MessageType: "message";
        /** @description Opens an ask. Set exactly one of `questions`, `approval` and `link`. */
        NewAsk: {
            /**
             * @description The session that the ask belongs to.
             * @default null
             */
            sessionId?: string | null;
            /** @default null */
            external?: components["schemas"]["ExternalSession"] | null;
            /**
             * @description The name of the agent that asks. Defaults to the name of the token.
             * @default null
             */
            agent?: string | null;
            /**
             * @description A one-line title for the card of the ask.
             * @default null
             */
            title?: string | null;
            /**
             * @description The project directory, as an absolute path. Rules can be limited to a directory.
             * @default null
             */
            project?: string | null;
            /**
             * @description The git branch of the project.
             * @default null
             */
            branch?: string | null;
            /**
             * @description The name of the sub-agent that asks.
             * @default null
             */
            subagent?: string | null;
            /**
             * @description The id that the agent gave the tool call.
             * @default null
             */
            toolCallId?: string | null;
            /**
             * @description Background that a person should read first, such as the agent's last message.
             * @default null
             */
            context?: string | null;
            /**
             * @description The questions to answer.
             * @default null
             */
            questions?: components["schemas"]["Question"][] | null;
            /** @default null */
            approval?: components["schemas"]["Approval"] | null;
            /** @default null */
            link?: components["schemas"]["Link"] | null;
            /**
             * @description Whether the agent waits for the outcome. Defaults to `true`.
             * @default null
             */
            blocking?: boolean | null;
            /**
             * @description Labels for filters and scoped tokens.
             * @default {}
             */
            labels?: {
                [key: string]: string;
            };
            /**
             * @description Whether to ask only the policy. If it leaves the ask to a person, no ask is opened and the response is 409
             *     `not_decided`.
             * @default null
             */
            policyOnly?: boolean | null;
            /**
             * @description Makes retries safe: while an ask with this key is pending, opening an equal ask with the same token returns that ask. If
             *     the new ask differs, the response is 409 `dedupe_key_reused`.
             * @default null
             */
            dedupeKey?: string | null;
            /**
             * @description How long to keep the ask when no caller waits for it any more, for example `10m`; at most `90d`. During that time a
             *     question is parked, and opening it again with the same `dedupeKey` continues it, even if it was answered but not
             *     collected. After that time the ask is withdrawn.
             * @default null
             */
            keep?: string | null;
            /**
             * @description The deadline, for example `10m`. When it passes, questions are rejected and approvals and links are denied.
             * @default null
             */
            timeout?: string | null;
        };
        /** @description Attaches Sayso to a running server of an agent. */
        NewAttachment: {
            /** @description The name of the agent. */
            agent: string;
            /** @description The URL of the server, or the path of its socket. */
            place: string;
            /** @description The user name, if the server requires one other than its default. */
            user?: string | null;
            /** @description The password, if the server requires one. It is stored in a file that only its owner can read, and is never returned. */
            password?: string | null;
        };
        /** @description Allows actions for a limited time. Patterns have the syntax of policy rules. */
        NewGrant: {
            /** @description Commands, for example `cargo test *`. */
            run?: string[];
            /** @description Files that may be changed, for example `src/**`. */
            edit?: string[];
            /** @description Files that may be read, for example `docs/**`. */
            read?: string[];
            /** @description Addresses that may be fetched, for example `docs.rs`. */
            fetch?: string[];
            /** @description MCP tools, as `server/tool`. */
            mcp?: string[];
            /** @description Tools by the agent's own names, for example `WebSearch`. */
            tool?: string[];
            /** @description How long the grant lasts, for example `1h`. Exclusive with `until`. */
            for?: string | null;
            /**
             * Format: date-time
             * @description When the grant ends. Exclusive with `for`.
             */
            until?: string | null;
            /** @description Limits the grant to this directory and the directories below it. */
            project?: string | null;
        };
        /** @description Opens the asks at which a run pauses: all of them or none. */
        NewGroup: {
            /**
             * @description The runs that your workers resume, for example `mailer`. Workers claim groups by this name.
             * @default
             */
            name?: string;
            /**
             * @description Your key for this pause of the run, for example run id and turn. Opening it again returns the same group, even after it ended.
             * @default null
             */
            key?: string | null;
            /**
             * @description The asks. They have no `dedupeKey` and no `keep` of their own.
             * @default []
             */
            asks?: components["schemas"]["NewAsk"][];
            /**
             * @description Ids of asks that you opened before.
             * @default []
             */
            askIds?: string[];
            /**
             * @description What your worker needs to resume the run, at most 4 MiB. It is stored encrypted, only your token can read it, and it is
             *     deleted when the claim is acknowledged.
             * @default null
             */
            state?: string | null;
            /**
             * @description A short text instead of a state, at most 256 bytes, for example the id of a thread whose state you store yourself.
             * @default null
             */
            resumeRef?: string | null;
            /**
             * @description A target of `[callbacks]` in `config.toml` that is called when the group is complete.
             * @default null
             */
            callback?: string | null;
            /**
             * @description Whether another worker may claim the group when a lease expires. Without it, a person decides, because the first
             *     worker may have called tools.
             * @default null
             */
            retry?: boolean | null;
            /**
             * @description How long asks wait for a person, and the complete group for a worker, e.g. `7d`; 30 days by default, at most `90d`.
             * @default null
             */
            keep?: string | null;
        };
        /** @description Makes the server reachable at a network address until that listener is closed or the server stops. */
        NewListener: {
            /** @description An address of this machine, with or without a port. Defaults to `suggested` of `GET /v1/listeners`. */
            address?: string | null;
        };
        /** @description Creates a login code. */
        NewLoginCode: {
            role?: components["schemas"]["Role"] | null;
        };
        /** @description Sends people a message that needs no answer. */
        NewNotice: {
            /** @description The text of the notice. */
            text: string;
            /** @description The name of the sender. Defaults to the name of the token. */
            agent?: string | null;
            external?: components["schemas"]["ExternalSession"] | null;
        };
        /** @description A push subscription of a browser: the fields `endpoint` and `keys` of `PushSubscription.toJSON()`. */
        NewPush: {
            /** @description The URL of the browser's push service. */
            endpoint: string;
            /** @description The keys of the subscription. */
            keys: components["schemas"]["PushKeys"];
        };
        /** @description Starts a run of a workflow. */
        NewRun: {
            /** @description The workflow as JSON, or the name of a file in the directory `workflows` next to `policy.toml`. */
            workflow: components["schemas"]["WorkflowSource"];
            /** @description The inputs by name. Numbers and booleans are converted to text. */
            input?: {
                [key: string]: string;
            };
            /**
             * @description The working directory of the agents, unless a step sets its own. Defaults to the directory of the workflow, or the home
             *     directory.
             */
            directory?: string | null;
            /** @description Labels of the run. Its sessions and asks get them as well. */
            labels?: {
                [key: string]: string;
            };
            /** @description Environment variables for the agents; see `POST /v1/sessions`. */
            environment?: {
                [key: string]: string;
            } | null;
        };
        /** @description Starts a session. */
        NewSession: {
            /**
             * @description The configured name of the agent, for example `mock`.
             * @default
             */
            agent: string;
            /**
             * @description The working directory of the agent. Defaults to the home directory.
             * @default null
             */
            cwd?: string | null;
            /**
             * @description The first prompt for the agent.
             * @default null
             */
            prompt?: string | null;
            /**
             * @description The agent's permission mode. With `default`, the agent asks before it uses tools.
             * @default null
             */
            permissionMode?: string | null;
            /**
             * @description The model that the agent should use.
             * @default null
             */
            model?: string | null;
            /** @description Policy settings for this session, for example `{"questions":"forward"}`. */
            policy?: Record<string, unknown> | null;
            /**
             * @description Labels of the session. Its asks get them as well.
             * @default {}
             */
            labels?: {
                [key: string]: string;
            };
            /**
             * @description Environment variables for the agent. Only `PATH` and API keys are used; others are ignored. Only `admin` tokens may set
             *     this field. The values are kept in memory and never stored.
             * @default null
             */
            environment?: {
                [key: string]: string;
            } | null;
        };
        /** @description Creates a token. */
        NewToken: {
            /** @description The role of the new token. */
            role: components["schemas"]["Role"];
            /** @description The name of the person or program. Outcomes show it as the decider. */
            actor: string;
            /** @description Limits the token to this session. */
            sessionId?: string | null;
            /** @description Limits the token to resources with all these labels. Asks that an `agent` token opens get exactly these labels. */
            labels?: {
                [key: string]: string;
            };
            /** @description For the role `agent`: the only agent name that the token may use. */
            agent?: string | null;
            /** @description For the role `agent`: the only directory that the token may ask from. */
            project?: string | null;
            /** @description How long the token is valid, for example `12h`. Defaults to no expiry. */
            expiresIn?: string | null;
        };
        /** @description An object without fields. */
        NoData: Record<string, unknown>;
        /** @description Rejects a question, or denies an approval or link. */
        NoRequest: {
            /**
             * @description The reason. The agent receives this text.
             * @default null
             */
            message?: string | null;
            /**
             * @description Whether the agent should stop its turn.
             * @default false
             */
            stop?: boolean;
        };
        /** @description The payload of `notice`. In a session, it is a block of the transcript; otherwise `agent` names the sender. */
        Notice: {
            /** @description The id of the block, in a session. */
            id?: string | null;
            /**
             * Format: date-time
             * @description When the notice was written, in a session.
             */
            at?: string | null;
            /** @description The name of the sub-agent that sent the notice. */
            subagent?: string | null;
            type?: components["schemas"]["NoticeType"] | null;
            /** @description The name of the sender, outside of sessions. */
            agent?: string | null;
            /** @description The text of the notice. */
            text: string;
        };
        /** @description An agent or a program sent people a message that needs no answer. */
        NoticeEvent: {
            /**
             * Format: int64
             * @description The position in the feed. Absent for events that are sent to live subscribers only.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description The time of the event.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "notice";
            /** @description The session that the event belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["Notice"];
        };
        /**
         * @description The value of the `type` field.
         * @enum {string}
         */
        NoticeType: "notice";
        /** @description The response of gateway calls that succeed. */
        Ok: {
            /** @description Always `true`. */
            ok: boolean;
        };
        /**
         * @description What happens to the other steps of a group when one step fails.
         * @enum {string}
         */
        OnFailure: "cancel" | "finish";
        /**
         * @description What happens at the deadline of an ask.
         * @enum {string}
         */
        OnTimeout: "reject" | "accept-first" | "deny";
        /** @description How an ask ended. */
        Outcome: {
            /** @description The final status of the ask. */
            status: components["schemas"]["AskStatus"];
            /** @description The answers, one per question, if the ask was answered. */
            answers?: components["schemas"]["ShownAnswer"][] | null;
            /** @description A note that the person added to the answers or the approval. */
            note?: string | null;
            /** @description The message of a denial or rejection, which the agent received, or the reason of a withdrawal. */
            message?: string | null;
            messageCode?: components["schemas"]["TextCode"] | null;
            /** @description Whether the agent was told to stop its turn. */
            stop?: boolean;
            /** @description The `id` of the agent's choice that the person selected. */
            choice?: string | null;
            /** @description The input that was approved instead of the agent's input. */
            input?: Record<string, unknown> | null;
            /** @description The person or mechanism that decided. */
            by: components["schemas"]["Actor"];
            /**
             * Format: date-time
             * @description The time of the decision.
             */
            at: string;
        };
        /** @description The payload of `policy.changed`. */
        PolicyChanged: {
            /** @description The fingerprint of the rules in force. */
            fingerprint: string;
            /** @description Whether the policy file is valid. While it is not, the last valid policy stays in force. */
            valid: boolean;
        };
        /** @description The rules in force changed, or the policy file became valid or invalid. */
        PolicyChangedEvent: {
            /**
             * Format: int64
             * @description The position in the feed. Absent for events that are sent to live subscribers only.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description The time of the event.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "policy.changed";
            /** @description The session that the event belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["PolicyChanged"];
        };
        /** @description One change to the text of a policy. `place` counts rules from 1. */
        PolicyEdit: {
            /** @description The rule to add. */
            rule: components["schemas"]["PolicyRule"];
            /** @enum {string} */
            kind: "addRule";
        } | {
            /** @description The place of the rule to replace. */
            place: number;
            /** @description The complete new rule. */
            rule: components["schemas"]["PolicyRule"];
            /** @enum {string} */
            kind: "setRule";
        } | {
            /** @description The place of the rule to remove. */
            place: number;
            /** @enum {string} */
            kind: "removeRule";
        } | {
            /** @description The place of the rule to move. */
            place: number;
            /** @description The place of the rule after the move. */
            to: number;
            /** @enum {string} */
            kind: "moveRule";
        } | {
            /** @description The new defaults for questions. */
            questions: components["schemas"]["QuestionDefaults"];
            /** @description The new defaults for approvals. */
            approvals: components["schemas"]["ApprovalDefaults"];
            /** @enum {string} */
            kind: "setDefaults";
        } | {
            /** @description The name of the profile. */
            name: string;
            /** @description The profile's defaults for questions. */
            questions: components["schemas"]["QuestionDefaults"];
            /** @description The profile's defaults for approvals. */
            approvals: components["schemas"]["ApprovalDefaults"];
            /** @enum {string} */
            kind: "setProfile";
        };
        /** @description A policy text and its content as structured values. */
        PolicyForm: {
            /** @description The text after the edits. Save it with `PUT /v1/policy`. */
            text: string;
            /** @description Defaults for questions that no rule matches. */
            questions: components["schemas"]["QuestionDefaults"];
            /** @description Defaults for approvals that no rule matches. */
            approvals: components["schemas"]["ApprovalDefaults"];
            /** @description The rules, in the order of the file. */
            rules: components["schemas"]["FormRule"][];
            /** @description Profiles by name. A profile, such as `away`, replaces defaults while it is switched on. */
            profiles: {
                [key: string]: components["schemas"]["ProfileDefaults"];
            };
        };
        /** @description One rule of a policy. It matches an ask only if all conditions that it sets match. */
        PolicyRule: {
            /** @description Identifies the rule in past decisions. The server generates one when you add or change a rule without it. */
            id?: string | null;
            /** @description A name for people. */
            name?: string | null;
            /** @description The effect of the rule when it matches. */
            do: components["schemas"]["RuleEffect"];
            /** @description Command patterns, for example `git diff *`. */
            run?: string[];
            /** @description Patterns of files that are changed, for example `src/**` or `!migrations/**`. */
            edit?: string[];
            /** @description Patterns of files that are read. */
            read?: string[];
            /** @description Addresses that are fetched, for example `docs.rs`. */
            fetch?: string[];
            /** @description MCP tools, as `server/tool`. */
            mcp?: string[];
            /** @description Tools by the agent's own names. */
            tool?: string[];
            /** @description Limits the rule to these agents. */
            agent?: string[];
            /** @description Limits the rule to this directory and the directories below it. */
            project?: string | null;
            /** @description Matches a part of a question's header, ignoring case, or a regular expression written as `/regex/`. */
            header?: string | null;
            /** @description Like `header`, but matches the header or the text of a question. */
            match?: string | null;
            /** @description The answer that the rule gives: labels of options, or free text. */
            answer?: string[];
            /** @description The option that the rule chooses, counted from 1. */
            pick?: number | null;
            /**
             * Format: date-time
             * @description When the rule stops applying.
             */
            until?: string | null;
            /** @description The message to the agent when the rule denies or rejects. */
            message?: string | null;
        };
        /** @description The policy file and the rules in force. */
        PolicyView: {
            /** @description The path of the policy file. */
            path: string;
            /** @description The text of the policy file. */
            text: string;
            /** @description Why the text is invalid. While set, the last valid policy stays in force. */
            error?: string | null;
            /** @description The fingerprint of the rules in force. */
            fingerprint: string;
            /** @description The fingerprint of `text`. Send it as `ifFingerprint` when you replace the text. */
            textFingerprint?: string;
            profile?: components["schemas"]["ActiveProfile"] | null;
            /** @description Temporary rules that an admin added without changing the file. */
            grants: components["schemas"]["Grant"][];
        };
        /** @description Earlier decisions of people about the same action: the same tool with the same command, files or address. */
        Precedents: {
            /** @description How often people approved the action, among the newest 2,000 asks. */
            approved: number;
            /** @description How often people denied the action, among the newest 2,000 asks. */
            denied: number;
            /**
             * Format: date-time
             * @description The last time that a person decided about the action.
             */
            lastAt?: string | null;
        };
        /** @description What a person should see before deciding. */
        Preview: {
            /** @description The command line, exactly as the agent sent it. */
            command: string;
            /** @description The directory in which the command would run. */
            cwd?: string | null;
            /** @enum {string} */
            type: "command";
        } | {
            /** @description One entry per changed file. */
            files: components["schemas"]["FileDiff"][];
            /** @enum {string} */
            type: "diff";
        } | {
            /** @description The plan, in Markdown. */
            text: string;
            /** @enum {string} */
            type: "plan";
        } | {
            /** @description Plain text, which must not be rendered as markup. */
            text: string;
            /** @enum {string} */
            type: "text";
        };
        /** @description The body of an error response, as in RFC 9457. Fields after `code` are present only for the codes that mention them. */
        Problem: {
            /** @description Always `about:blank`, because `code` identifies the kind of error. */
            type?: string;
            /** @description A short summary, the same for every error with this code. */
            title: string;
            /**
             * Format: int32
             * @description The HTTP status code.
             */
            status: number;
            /** @description What happened, and what to do next. */
            detail: string;
            /** @description The stable error code. */
            code: components["schemas"]["ErrorCode"];
            /** @description The same text as `detail`, for clients that expect a field of this name. */
            error?: string | null;
            outcome?: components["schemas"]["Outcome"] | null;
            /** @description With `ask_already_resolved`: whether this token caused the outcome with an earlier call. */
            own?: boolean | null;
            /** @description With `invalid_answers`: one entry per invalid answer. */
            problems?: components["schemas"]["QuestionProblem"][];
            /** @description With `ask_pending`: the ids of the pending asks. */
            asks?: string[];
            /**
             * @description With `content_changed`: what changed in the files that the command executes. Empty if the server no longer has the
             *     earlier content.
             */
            changes?: components["schemas"]["FileDiff"][];
            /** @description With `invalid_workflow`: one entry per mistake. */
            faults?: components["schemas"]["WorkflowFault"][];
            /** @description The line of a mistake in a file or text, counted from 1. */
            line?: number | null;
            /** @description The column of the mistake, counted from 1. */
            column?: number | null;
        };
        /** @description The defaults that a profile replaces. */
        ProfileDefaults: {
            /** @description The profile's defaults for questions. */
            questions: components["schemas"]["QuestionDefaults"];
            /** @description The profile's defaults for approvals. */
            approvals: components["schemas"]["ApprovalDefaults"];
        };
        /** @description What a browser needs to subscribe to push notifications. */
        PushInfo: {
            /** @description The server's VAPID public key. Absent if no push channel is configured. */
            publicKey?: string | null;
        };
        /** @description The keys that the server uses to encrypt messages to a browser. */
        PushKeys: {
            /** @description The browser's public key, base64url. */
            p256dh: string;
            /** @description The authentication secret of the subscription, base64url. */
            auth: string;
        };
        /** @description One question of an ask. */
        Question: {
            /** @description The name that the agent uses for the question. Defaults to its position. */
            key?: string | null;
            /** @description A short label that clients show as a chip. */
            header?: string | null;
            /** @description The text of the question. */
            text: string;
            /** @description The type of the answer. Defaults to `choice` if there are options, and to `text` otherwise. */
            input?: components["schemas"]["InputKind"];
            /** @description Whether more than one option can be chosen. */
            multiple?: boolean;
            /** @description Whether free text is accepted in addition to the options. */
            custom?: boolean;
            /** @description Whether the question has to be answered. */
            required?: boolean;
            /** @description Whether the answer is a secret. Sayso never displays secret answers and deletes them after delivery. */
            secret?: boolean;
            /**
             * Format: double
             * @description The smallest number that is accepted.
             */
            minimum?: number | null;
            /**
             * Format: double
             * @description The largest number that is accepted.
             */
            maximum?: number | null;
            /** @description Whether the number has to be an integer. */
            integer?: boolean;
            /**
             * @description A JSON Schema that the person's own text has to fit, for questions that accept text; at most 32 KiB and without
             *     references to other documents. With `"type": "string"` the text itself is the value, otherwise the text is JSON.
             */
            responseSchema?: Record<string, unknown> | null;
            /** @description The options, in the agent's order. */
            options?: components["schemas"]["QuestionOption"][];
            /** @description The options that a policy rule suggests. Clients preselect them. */
            preselected?: string[] | null;
        };
        /** @description The payload of `agent_question_answered`, which is also sent when a rule, a policy default or a timeout decided. */
        QuestionAnswered: {
            /** @description The id of the run. */
            runId: string;
            /** @description The id of the step. */
            stepId: string;
            /** @description The id of the session. */
            sessionId: string;
            /** @description The id of the ask. */
            questionId: string;
            /** @description `answered`, `rejected` or `withdrawn`. */
            status: components["schemas"]["AskStatus"];
            /** @description The answers, one per question. Empty if the question was not answered. */
            answers: components["schemas"]["ShownAnswer"][];
            /** @description The reason of a rejection or withdrawal. */
            message?: string | null;
            /**
             * Format: date-time
             * @description The time of the decision.
             */
            timestamp: string;
            /** @description The person or mechanism that decided. */
            by: components["schemas"]["Actor"];
            /** @description The questions. Repeated here because no `agent_question_asked` precedes an automatic decision. */
            question: components["schemas"]["RunQuestion"];
        };
        /** @description The payload of `agent_question_asked`. */
        QuestionAsked: {
            /** @description The id of the run. */
            runId: string;
            /** @description The id of the step. */
            stepId: string;
            /** @description The id of the session. */
            sessionId: string;
            /** @description The questions and their deadline. */
            question: components["schemas"]["RunQuestion"];
            /**
             * Format: date-time
             * @description When the agent asked.
             */
            timestamp: string;
        };
        /**
         * @description What happens to a question that no rule answers.
         * @enum {string}
         */
        QuestionDefault: "reject" | "accept-first" | "forward" | "auto";
        /** @description Settings for questions that no rule matches. Missing fields are inherited from the enclosing scope. */
        QuestionDefaults: {
            policy?: components["schemas"]["QuestionDefault"] | null;
            /** @description How long a person has to answer, for example `10m`. */
            timeout?: string | null;
            onTimeout?: components["schemas"]["QuestionTimeout"] | null;
            /** @description The message to an agent whose question is rejected. */
            message?: string | null;
        };
        /** @description The question REST dialect's view of an ask. `question.*` events carry it as `question`, next to the ask. */
        QuestionEventData: {
            /** @description The id of the ask. */
            questionId: string;
            /** @description The text of every question, joined by newlines. */
            prompt: string;
            /** @description The option labels of the first question. */
            options: string[];
            /** @description The first entry of the first answer. `null` until there is an answer, and always for a secret. */
            response?: string | null;
            /** @description The status of the question. */
            status: components["schemas"]["QuestionStatus"];
            /** @description Why the question was rejected or withdrawn. */
            reason?: string | null;
            /** @description All questions of the ask. */
            questions: components["schemas"]["Question"][];
        };
        /** @description One question in the gateway dialect. */
        QuestionItem: {
            /** @description A short label that clients show as a chip. */
            header: string;
            /** @description The text of the question. */
            question: string;
            /** @description The options to choose from. Empty for a free-text question. */
            options: components["schemas"]["ItemOption"][];
            /** @description Whether more than one option can be chosen. */
            multiSelect: boolean;
        };
        /** @description An option of a question. */
        QuestionOption: {
            /** @description The value that the agent receives. Defaults to the label. */
            value?: string | null;
            /** @description The text to display. */
            label: string;
            /** @description A longer explanation of the option. */
            description?: string | null;
            /** @description An example of the result, such as code or a drawing in text. */
            preview?: string | null;
            /** @description Whether the agent recommends this option. */
            recommended?: boolean;
        };
        /** @description Why the answer to one question is invalid. */
        QuestionProblem: {
            /** @description The position of the question, counted from 0. */
            index: number;
            /** @description The `key` of the question. */
            key: string;
            /** @description A description of the mistake for people. */
            reason: string;
        };
        /** @description The body of a reply in the question REST dialect. */
        QuestionReplyRequest: {
            /** @description One list per question, in order. Each entry is an option label or free text. */
            answers: string[][];
        };
        /** @description A question needs an answer from a person. */
        QuestionRequestedEvent: {
            /**
             * Format: int64
             * @description The position in the feed. Absent for events that are sent to live subscribers only.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description The time of the event.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "question.requested";
            /** @description The session that the event belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["AskEvent"];
        };
        /** @description A question got its outcome. */
        QuestionResolvedEvent: {
            /**
             * Format: int64
             * @description The position in the feed. Absent for events that are sent to live subscribers only.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description The time of the event.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "question.resolved";
            /** @description The session that the event belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["AskEvent"];
        };
        /**
         * @description The status of a question in the question REST dialect, which has only three values. A withdrawn question has the status
         *     `rejected` and a `reason`.
         * @enum {string}
         */
        QuestionStatus: "requested" | "answered" | "rejected";
        /**
         * @description What happens to a question at its deadline.
         * @enum {string}
         */
        QuestionTimeout: "reject" | "accept-first" | "deny";
        /**
         * @description Whether the agent can still receive an outcome directly.
         * @enum {string}
         */
        Reach: "live" | "parked";
        /** @description Whether a group can be claimed. */
        ReadyGroups: {
            /** @description The number of complete groups with this name that no worker has claimed. */
            ready: number;
        };
        /** @description Releases a claim. */
        ReleaseRequest: {
            /**
             * Format: int64
             * @description The epoch of the claim.
             */
            epoch: number;
            /** @description Whether the run may have called tools. Then a person decides whether it is resumed again, unless the group has `retry`. */
            started?: boolean;
            /** @description A description of the failure for people. */
            reason?: string | null;
        };
        /** @description Extends the lease of a claim. */
        RenewRequest: {
            /**
             * Format: int64
             * @description The epoch of the claim.
             */
            epoch: number;
            /** @description The new lease, counted from now, e.g. `60s` (the default), at most `1h`. */
            lease?: string | null;
        };
        /**
         * @description Tells the client that the requested position is no longer available. List the resources again and continue the stream at
         *     `seq`. A reset is not an event and has no time.
         */
        ResetEvent: {
            /**
             * Format: int64
             * @description The position at which the stream continues.
             */
            seq: number;
            /**
             * @description Always `reset`. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "reset";
            /** @description Always an empty object. */
            data: components["schemas"]["NoData"];
        };
        /**
         * @description The value of the `type` field.
         * @enum {string}
         */
        ResetType: "reset";
        /**
         * @description The permissions of a token.
         * @enum {string}
         */
        Role: "admin" | "answerer" | "viewer" | "agent";
        /**
         * @description The effect of a rule.
         * @enum {string}
         */
        RuleEffect: "allow" | "deny" | "ask" | "answer" | "reject";
        /** @description How often one rule decided an ask or left it to a person. */
        RuleHits: {
            /** @description The `key` of the rule, as in the policy form. */
            rule: string;
            /** @description The number of matches. Counting stops at 10,000. */
            hits: number;
            /**
             * Format: date-time
             * @description The last match, which can be earlier than `since`.
             */
            lastAt?: string | null;
        };
        /** @description How often each rule of the saved policy matched. */
        RuleHitsList: {
            /**
             * Format: date-time
             * @description The start of the counted period.
             */
            since: string;
            /** @description One entry per rule, and one for the built-in rule. */
            data: components["schemas"]["RuleHits"][];
        };
        /** @description One execution of a workflow. */
        Run: {
            /** @description The unique id of the run. */
            id: string;
            /** @description The name of the workflow. */
            workflow: string;
            /** @description The status of the run. */
            status: components["schemas"]["RunStatus"];
            /** @description Why the run failed or was cancelled. */
            reason?: string | null;
            /** @description The inputs by name. */
            input: {
                [key: string]: string;
            };
            /** @description The working directory of its agents. */
            directory: string;
            /** @description The steps in order. Steps of a group are listed individually. */
            steps: components["schemas"]["RunStep"][];
            /** @description The last message of each finished step, by step id. */
            outputs: {
                [key: string]: string;
            };
            /** @description Pending questions of the agents, oldest first. Empty in lists of runs. */
            pendingQuestions?: components["schemas"]["RunQuestion"][];
            /** @description The ids of pending checkpoints. Empty in lists of runs. */
            pendingCheckpoints?: string[];
            /** @description The ids of pending approvals and links. Empty in lists of runs. */
            pendingApprovals?: string[];
            /**
             * Format: int32
             * @description The number of pending asks.
             */
            pending: number;
            /** @description Whether the lists of pending asks are incomplete because of their size in bytes. */
            truncated?: boolean;
            /** @description The labels of the run. */
            labels: {
                [key: string]: string;
            };
            /**
             * Format: date-time
             * @description When the run was started.
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When the run last changed.
             */
            updatedAt: string;
            /**
             * Format: int64
             * @description The feed position at which the run was read. Absent in lists of runs.
             */
            seq?: number | null;
        };
        /** @description Answers or rejects a pending question of a run. Set exactly one of `answers` and `reject`. */
        RunAnswerRequest: {
            /**
             * @description One list of entries per question.
             * @default null
             */
            answers?: string[][] | null;
            /**
             * @description Whether to reject the question.
             * @default null
             */
            reject?: boolean | null;
            /**
             * @description With `reject`: the reason. The agent receives this text.
             * @default null
             */
            message?: string | null;
        };
        /** @description The result of answering or rejecting a question. */
        RunAnswered: {
            /** @description `answered` or `rejected`. */
            status: string;
        };
        /** @description A person cancelled a run. */
        RunCancelledEvent: {
            /**
             * Format: int64
             * @description The position in the feed. Absent for events that are sent to live subscribers only.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description The time of the event.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "run.cancelled";
            /** @description The session that the event belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["RunNews"];
        };
        /** @description A run completed all its steps. */
        RunCompletedEvent: {
            /**
             * Format: int64
             * @description The position in the feed. Absent for events that are sent to live subscribers only.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description The time of the event.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "run.completed";
            /** @description The session that the event belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["RunNews"];
        };
        /** @description A run failed. */
        RunFailedEvent: {
            /**
             * Format: int64
             * @description The position in the feed. Absent for events that are sent to live subscribers only.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description The time of the event.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "run.failed";
            /** @description The session that the event belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["RunNews"];
        };
        /** @description The payload of `run.started`, `run.completed`, `run.failed` and `run.cancelled`. */
        RunNews: {
            /** @description The id of the run. */
            runId: string;
            /** @description The name of the workflow. */
            workflow: string;
            /** @description The new status of the run. */
            status: components["schemas"]["RunStatus"];
            /** @description Why the run failed or was cancelled. */
            reason?: string | null;
        };
        /** @description One page of a list of runs, newest first. */
        RunPage: {
            /** @description The runs of this page. */
            data: components["schemas"]["Run"][];
            /** @description The `cursor` of the next page. Absent on the last page. */
            nextCursor?: string | null;
            /**
             * Format: int64
             * @description The feed position at which the list was read.
             */
            seq: number;
            /** @description Whether the page has fewer than `limit` entries because it reached its size limit in bytes. */
            truncated?: boolean;
        };
        /** @description The questions of one ask of a step's agent. */
        RunQuestion: {
            /** @description The id of the ask. */
            id: string;
            /** @description The id of the step. */
            stepId: string;
            /** @description The id of the session. */
            sessionId: string;
            /** @description The questions to answer. */
            questions: components["schemas"]["RunQuestionItem"][];
            /**
             * Format: date-time
             * @description When the agent asked.
             */
            askedAt: string;
            /**
             * Format: date-time
             * @description When the question is decided automatically. Absent if it has no deadline.
             */
            deadlineAt?: string | null;
            onTimeout?: components["schemas"]["OnTimeout"] | null;
        };
        /** @description One question of the ask. */
        RunQuestionItem: {
            /** @description The text of the question. */
            question: string;
            /** @description A short label, at most 30 characters. */
            header: string;
            /** @description The options to choose from. */
            options: components["schemas"]["RunQuestionOption"][];
            /** @description Whether more than one option can be chosen. */
            multiple: boolean;
            /** @description Whether free text is accepted in addition to the options. */
            custom?: boolean;
        };
        /** @description An option of a question. */
        RunQuestionOption: {
            /** @description The text to display, and the value to answer with. */
            label: string;
            /** @description A longer explanation of the option. */
            description?: string | null;
        };
        /** @description A run started. */
        RunStartedEvent: {
            /**
             * Format: int64
             * @description The position in the feed. Absent for events that are sent to live subscribers only.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description The time of the event.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "run.started";
            /** @description The session that the event belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["RunNews"];
        };
        /**
         * @description The status of a run.
         * @enum {string}
         */
        RunStatus: "running" | "waiting" | "completed" | "failed" | "cancelled";
        /** @description One step of a run. */
        RunStep: {
            /** @description The id of the step in the workflow. */
            id: string;
            /** @description The name of the agent. Absent for a checkpoint. */
            agent?: string | null;
            /** @description A sentence that says what happens to questions of the agent. Absent for a checkpoint. */
            onQuestion?: string | null;
            /** @description The question of a checkpoint, before variables are filled in. */
            question?: string | null;
            /** @description `pending`, `running`, `waiting` (only checkpoints), `completed`, `failed` or `cancelled`. */
            status: string;
            /** @description The id of the session that executes the step, or executed it last. */
            sessionId?: string | null;
            /** @description The id of the ask of an open checkpoint. */
            askId?: string | null;
            /** @description The last message of the agent, or the answer to the checkpoint. */
            output?: string | null;
            /** @description Why the step failed or was cancelled. */
            reason?: string | null;
            /**
             * Format: int32
             * @description How often the step was started.
             */
            attempts: number;
            /**
             * Format: date-time
             * @description When the step started.
             */
            startedAt?: string | null;
            /**
             * Format: date-time
             * @description When the step finished.
             */
            endedAt?: string | null;
        };
        /** @description One conversation with one agent. */
        Session: {
            /** @description The unique id of the session. */
            id: string;
            /** @description The name of the agent. */
            agent: string;
            /** @description The first line of the first prompt. */
            title: string;
            /** @description The working directory of the agent. */
            cwd: string;
            /** @description The git branch when the session started. */
            branch?: string | null;
            /** @description The status of the session. */
            status: components["schemas"]["SessionStatus"];
            /** @description Why the session ended. */
            reason?: string | null;
            /** @description Whether the session can be resumed after it ended. */
            resumable?: boolean;
            /** @description The agent's permission mode. */
            permissionMode: string;
            /** @description The model that the agent uses. */
            model?: string | null;
            /** @description Policy settings that apply to this session, in addition to the policy file. */
            policy?: Record<string, unknown>;
            /**
             * @description Whether a person runs the agent in their own terminal or editor. Sayso can decide its asks, but cannot send it messages
             *     or commands.
             */
            external?: boolean;
            /** @description The id that the agent gave the session, if known. */
            nativeId?: string | null;
            /** @description The labels of the session. */
            labels: {
                [key: string]: string;
            };
            /**
             * Format: date-time
             * @description When the session was created.
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When the session last changed.
             */
            updatedAt: string;
            /** @description The pending asks. Absent in lists of sessions. */
            asks?: components["schemas"]["Ask"][] | null;
            /**
             * Format: int32
             * @description The number of pending asks.
             */
            pending: number;
            /** @description Whether `asks` is incomplete because of its size. `GET /v1/asks?session=` lists all asks. */
            truncated?: boolean;
            /**
             * Format: int64
             * @description The feed position at which the session was read. Absent in lists of sessions.
             */
            seq?: number | null;
        };
        /** @description A session was created. */
        SessionCreatedEvent: {
            /**
             * Format: int64
             * @description The position in the feed. Absent for events that are sent to live subscribers only.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description The time of the event.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "session.created";
            /** @description The session that the event belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["Session"];
        };
        /** @description A session ended. */
        SessionEndedEvent: {
            /**
             * Format: int64
             * @description The position in the feed. Absent for events that are sent to live subscribers only.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description The time of the event.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "session.ended";
            /** @description The session that the event belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["SessionStatusChange"];
        };
        /** @description One page of a list of sessions, newest first. */
        SessionPage: {
            /** @description The sessions of this page. */
            data: components["schemas"]["Session"][];
            /** @description The `cursor` of the next page. Absent on the last page. */
            nextCursor?: string | null;
            /**
             * Format: int64
             * @description The feed position at which the list was read.
             */
            seq: number;
            /** @description Whether the page has fewer than `limit` entries because it reached its size limit in bytes. */
            truncated?: boolean;
        };
        /**
         * @description The status of a session.
         * @enum {string}
         */
        SessionStatus: "running" | "waiting" | "idle" | "stalled" | "ended" | "failed";
        /** @description The payload of `session.status` and `session.ended`. */
        SessionStatusChange: {
            /** @description The new status. Never `waiting`, which clients derive from the session's pending asks. */
            status: components["schemas"]["SessionStatus"];
            /** @description Why the session ended. */
            reason?: string | null;
            /** @description Whether the session can be resumed. */
            resumable?: boolean;
            /** @description The new permission mode, if it changed. */
            permissionMode?: string | null;
            /** @description The new model, if it changed. */
            model?: string | null;
        };
        /** @description The status of a session changed. */
        SessionStatusEvent: {
            /**
             * Format: int64
             * @description The position in the feed. Absent for events that are sent to live subscribers only.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description The time of the event.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "session.status";
            /** @description The session that the event belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["SessionStatusChange"];
        };
        /** @description Replaces the text of the policy file. */
        SetPolicy: {
            /** @description The complete new text. */
            text: string;
            /** @description The `textFingerprint` of the text to replace. If the file has changed since, the response is 409 `policy_changed`. */
            ifFingerprint: string;
        };
        /** @description Switches a profile on or off. */
        SetProfile: {
            /** @description The profile to switch on. `null` switches the active profile off. */
            name?: string | null;
            /** @description How long the profile stays on, for example `2h`. Without it, the profile stays on until you switch it off. */
            for?: string | null;
        };
        /** @description The answer to one question, as it may be displayed. */
        ShownAnswer: string[] | {
            /** @description Always `true`. */
            secret: boolean;
        };
        /** @description Hides an ask from the inbox for a while, without deciding it. */
        SnoozeRequest: {
            /**
             * Format: date-time
             * @description When the ask returns to the inbox. `null` returns it immediately.
             */
            until?: string | null;
        };
        /** @description A step of a run was cancelled, before or after it started. */
        StepCancelledEvent: {
            /**
             * Format: int64
             * @description The position in the feed. Absent for events that are sent to live subscribers only.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description The time of the event.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "step.cancelled";
            /** @description The session that the event belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["StepNews"];
        };
        /** @description A step of a run completed. */
        StepCompletedEvent: {
            /**
             * Format: int64
             * @description The position in the feed. Absent for events that are sent to live subscribers only.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description The time of the event.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "step.completed";
            /** @description The session that the event belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["StepNews"];
        };
        /** @description A step of a run failed. */
        StepFailedEvent: {
            /**
             * Format: int64
             * @description The position in the feed. Absent for events that are sent to live subscribers only.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description The time of the event.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "step.failed";
            /** @description The session that the event belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["StepNews"];
        };
        /** @description The payload of `step.started`, `step.completed`, `step.failed` and `step.cancelled`. */
        StepNews: components["schemas"]["RunStep"] & {
            /** @description The id of the run. */
            runId: string;
            /** @description The id of the step. */
            stepId: string;
        };
        /**
         * @description What happens to a question of a step's agent.
         * @enum {string}
         */
        StepQuestions: "reject" | "accept-first" | "forward" | "auto";
        /** @description A step of a run started. */
        StepStartedEvent: {
            /**
             * Format: int64
             * @description The position in the feed. Absent for events that are sent to live subscribers only.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description The time of the event.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "step.started";
            /** @description The session that the event belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["StepNews"];
        };
        /** @description Answers the questions of one tool call in the gateway dialect. */
        SubmitAnswers: {
            /**
             * @description The id that the agent gave the tool call. Required.
             * @default null
             */
            toolCallId: string | null;
            /**
             * @description Answers by question position: `"0"`, `"1"` and so on. A question with `multiSelect` takes a JSON array as text.
             *     Required.
             * @default null
             */
            answers: {
                [key: string]: string;
            } | null;
        };
        /** @description Sends a test notification. */
        TestChannels: {
            /** @description The channel to test. Defaults to all channels. */
            name?: string | null;
        };
        /** @description The result of testing one channel. */
        Tested: {
            /** @description The name of the channel. */
            name: string;
            /** @description The type of the channel, for example `ntfy`. */
            kind: string;
            /** @description Whether the receiver accepted the message. */
            sent: boolean;
            /** @description The error, if it did not. */
            failure?: string | null;
        };
        /** @description The results of a test. */
        TestedList: {
            /** @description One result per tested channel, in the order of the configuration. */
            data: components["schemas"]["Tested"][];
        };
        /** @description The code and the parameters of a text that Sayso wrote. Clients that do not know the code show the text. */
        TextCode: {
            /** @description The identifier of the sentence, for example `no_rule_allows`. docs/api.md lists the codes. */
            code: string;
            /** @description The values in the sentence by name. */
            params?: {
                [key: string]: string;
            };
        };
        /** @description The next channel of an escalation. */
        Then: {
            /** @description The name of the next channel. */
            name: string;
            /** @description The delay after the first channel, for example `5m`. */
            after: string;
        };
        /** @description A token, without its secret. */
        Token: {
            /** @description The public id of the token, used to revoke it. */
            id: string;
            /** @description The role of the token. */
            role: components["schemas"]["Role"];
            /** @description The name of the person or program. */
            actor: string;
            /** @description The name of the browser that signed in with this token. */
            device?: string | null;
            /** @description The session that the token is limited to. */
            sessionId?: string | null;
            /** @description The labels that the token is limited to. */
            labels?: {
                [key: string]: string;
            };
            /** @description The only agent name that the token may use. */
            agent?: string | null;
            /** @description The only directory that the token may ask from. */
            project?: string | null;
            /**
             * Format: date-time
             * @description When the token was created.
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When the token expires. Absent if it does not expire.
             */
            expiresAt?: string | null;
            /**
             * Format: date-time
             * @description When the token was revoked. Absent if it is valid.
             */
            revokedAt?: string | null;
            /**
             * Format: date-time
             * @description When the token was last used. Absent if it was not used since the server started.
             */
            lastUsedAt?: string | null;
        };
        /** @description All tokens that exist. */
        TokenList: {
            /** @description The tokens, newest first. */
            data: components["schemas"]["Token"][];
        };
        /** @description The payload of `tool.started`, `tool.updated` and `tool.completed`: the tool call as a block of the transcript. */
        ToolBlock: {
            /** @description The id of the block. */
            id: string;
            /**
             * Format: date-time
             * @description When the tool call started.
             */
            at: string;
            /** @description The name of the sub-agent that called the tool. */
            subagent?: string | null;
            /** @description Always `tool`. */
            type?: components["schemas"]["ToolType"];
            /** @description The id that the agent gave the tool call. */
            toolCallId: string;
            /** @description The name of the tool. */
            name: string;
            /** @description The arguments of the tool, as the agent sent them. */
            input?: unknown;
            /** @description The output of the tool. */
            output?: string | null;
            /** @description The state of the tool call. */
            status: components["schemas"]["ToolCallStatus"];
        };
        /** @description Refers to a tool call in the gateway dialect. */
        ToolCallRef: {
            /**
             * @description The id that the agent gave the tool call. Required.
             * @default null
             */
            toolCallId: string | null;
        };
        /**
         * @description The state of a tool call.
         * @enum {string}
         */
        ToolCallStatus: "running" | "complete" | "error";
        /** @description A tool call finished. */
        ToolCompletedEvent: {
            /**
             * Format: int64
             * @description The position in the feed. Absent for events that are sent to live subscribers only.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description The time of the event.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "tool.completed";
            /** @description The session that the event belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["ToolBlock"];
        };
        /** @description A tool call started. */
        ToolStartedEvent: {
            /**
             * Format: int64
             * @description The position in the feed. Absent for events that are sent to live subscribers only.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description The time of the event.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "tool.started";
            /** @description The session that the event belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["ToolBlock"];
        };
        /**
         * @description The value of the `type` field.
         * @enum {string}
         */
        ToolType: "tool";
        /** @description A tool call changed. */
        ToolUpdatedEvent: {
            /**
             * Format: int64
             * @description The position in the feed. Absent for events that are sent to live subscribers only.
             */
            seq?: number;
            /**
             * Format: date-time
             * @description The time of the event.
             */
            at: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "tool.updated";
            /** @description The session that the event belongs to. */
            sessionId?: string | null;
            data: components["schemas"]["ToolBlock"];
        };
        /** @description A part of a transcript: messages, tool calls, notices and asks in chronological order. */
        Transcript: {
            /** @description The blocks of this page. */
            data: Record<string, unknown>[];
            /** @description The `cursor` of the next page. Absent on the last page. */
            nextCursor?: string | null;
            /**
             * Format: int64
             * @description The feed position at which the transcript was read.
             */
            seq: number;
            /** @description Whether the page has fewer than `limit` entries because it reached its size limit in bytes. */
            truncated?: boolean;
        };
        /** @description Trusts the `.sayso.toml` of a project in its current state. */
        TrustRequest: {
            /** @description The project directory, which contains `.sayso.toml`. */
            directory: string;
        };
        /** @description The project policy that is now trusted. */
        Trusted: {
            /** @description The path of the trusted file. */
            path: string;
            /** @description The fingerprint of the trusted text. If the file changes, it is no longer trusted. */
            hash: string;
        };
        /** @description A question to a person at which the run pauses. The answer is the output of the step. */
        WorkflowCheckpoint: {
            /**
             * @description The text of the question, a template.
             * @default
             */
            question: string;
            /**
             * @description A short label for the question.
             * @default null
             */
            header?: string | null;
            /** @default null */
            input?: components["schemas"]["CheckpointInput"] | null;
            /**
             * @description The options to choose from.
             * @default []
             */
            options?: components["schemas"]["CheckpointOption"][];
            /**
             * @description Whether more than one option can be chosen.
             * @default false
             */
            multiple?: boolean;
            /**
             * @description Whether free text is accepted in addition to the options.
             * @default false
             */
            custom?: boolean;
            /**
             * Format: double
             * @description The smallest number that is accepted.
             * @default null
             */
            minimum?: number | null;
            /**
             * Format: double
             * @description The largest number that is accepted.
             * @default null
             */
            maximum?: number | null;
            /**
             * @description Whether the number has to be an integer.
             * @default false
             */
            integer?: boolean;
        };
        /** @description One mistake in a workflow. */
        WorkflowFault: {
            /** @description The path of the invalid value, for example `steps[1].prompt`. */
            path: string;
            /** @description The error and the correction. */
            message: string;
            /** @description The line, counted from 1, if the workflow was read from a file. */
            line?: number | null;
            /** @description The column, counted from 1. */
            column?: number | null;
        };
        /** @description The content of a workflow file. */
        WorkflowFile: {
            /** @description The name of the workflow. */
            name: string;
            /** @description A description of the workflow for people. */
            description?: string | null;
            /** @description The working directory of the agents. Steps and runs can override it. */
            directory?: string | null;
            /** @description The inputs of a run, by name. */
            inputs?: {
                [key: string]: components["schemas"]["WorkflowInput"];
            };
            /** @description The steps, executed one after another. */
            steps: components["schemas"]["WorkflowStep"][];
        };
        /** @description A declared input of a workflow. */
        WorkflowInput: {
            /**
             * @description A description of the input for people.
             * @default null
             */
            description?: string | null;
            /**
             * @description The value to use if the run does not set this input. Without a default, the input is required.
             * @default null
             */
            default?: string | null;
        };
        /** @description A workflow: the name of a file in the directory `workflows` next to `policy.toml`, or the workflow itself as JSON. */
        WorkflowSource: string | components["schemas"]["WorkflowFile"];
        /** @description One step: an `agent` with a `prompt`, a group of `parallel` steps, or a `checkpoint`. */
        WorkflowStep: {
            /**
             * @description The id of the step. Templates of later steps refer to its output by this id.
             * @default
             */
            id: string;
            /**
             * @description The configured name of the agent.
             * @default null
             */
            agent?: string | null;
            /**
             * @description The prompt for the agent, a template.
             * @default null
             */
            prompt?: string | null;
            /**
             * @description The working directory of the agent.
             * @default null
             */
            directory?: string | null;
            /**
             * @description The model that the agent uses.
             * @default null
             */
            model?: string | null;
            /**
             * @description The permission mode of the agent.
             * @default null
             */
            permission_mode?: string | null;
            /** @default null */
            questions?: components["schemas"]["StepQuestions"] | null;
            /**
             * @description How long a person has to answer a forwarded question, for example `30s`.
             * @default null
             */
            question_timeout?: string | null;
            /** @default null */
            on_timeout?: components["schemas"]["OnTimeout"] | null;
            /**
             * @description The message to an agent whose question is rejected.
             * @default null
             */
            message?: string | null;
            /** @description What happens to an approval that no rule decides, as in `policy.toml`. */
            approvals?: Record<string, unknown> | null;
            /**
             * @description Rules of the step, as in `policy.toml`. They take precedence over those of `policy.toml`.
             * @default []
             */
            rules?: Record<string, unknown>[];
            /** @default null */
            if_agent_dies?: components["schemas"]["IfAgentDies"] | null;
            /**
             * @description Steps to run at the same time.
             * @default null
             */
            parallel?: components["schemas"]["WorkflowStep"][] | null;
            /** @default null */
            on_failure?: components["schemas"]["OnFailure"] | null;
            /** @default null */
            checkpoint?: components["schemas"]["WorkflowCheckpoint"] | null;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
