/** The OpenAPI document of this server, as the reference reads it. */

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly example?: unknown;
  readonly default?: unknown;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header" | "cookie";
  readonly description?: string;
  readonly required?: boolean;
  readonly example?: unknown;
  readonly schema?: Schema;
}

export interface Content {
  readonly schema?: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly summary?: string; readonly value?: unknown }>>;
}

export interface Answer {
  readonly description?: string;
  readonly headers?: Readonly<Record<string, { readonly description?: string; readonly schema?: Schema }>>;
  readonly content?: Readonly<Record<string, Content>>;
}

export interface Operation {
  readonly id: string;
  readonly method: string;
  /** Its path, or the type of the event of a webhook. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly deprecated: boolean;
  /** Whether anybody may call it, without a signature. */
  readonly open: boolean;
  readonly parameters: readonly Parameter[];
  readonly body?: { readonly description?: string; readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<Record<string, Answer>>;
}

export interface Group {
  readonly tag: string;
  readonly description: string;
  readonly operations: readonly Operation[];
}

export interface Reference {
  readonly version: string;
  readonly intro: string;
  readonly signing: string;
  readonly groups: readonly Group[];
  readonly operations: ReadonlyMap<string, Operation>;
  readonly schemas: Readonly<Record<string, Schema>>;
}

interface Described {
  readonly operationId: string;
  readonly tags?: readonly string[];
  readonly summary?: string;
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly security?: readonly object[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Operation["body"];
  readonly responses: Operation["responses"];
}

type Paths = Readonly<Record<string, Readonly<Record<string, Described>>>>;

interface Document {
  readonly info: { readonly version: string; readonly description?: string };
  readonly tags?: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Paths;
  readonly webhooks?: Paths;
  readonly components?: {
    readonly schemas?: Readonly<Record<string, Schema>>;
    readonly securitySchemes?: Readonly<Record<string, { readonly description?: string }>>;
  };
}

/** The tag of what the gateway sends, and nobody calls. */
export const SENT = "sent";

function operation(method: string, path: string, of: Described, tag = of.tags?.[0] ?? ""): Operation {
  const { operationId: id, summary = of.operationId, description, deprecated = false, parameters = [], requestBody, responses } = of;
  const open = of.security?.some((one) => Object.keys(one).length === 0) === true;
  return {
    ...{ id, method: method.toUpperCase(), path, tag, summary, deprecated, open, parameters, responses },
    ...(description === undefined ? {} : { description }),
    ...(requestBody === undefined ? {} : { body: requestBody }),
  };
}

const all = (paths: Paths, tag?: string): Operation[] =>
  Object.entries(paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, of]) => operation(method, path, of, tag)));

/** Reads the document from this server. */
export async function load(): Promise<Reference> {
  const response = await fetch("/openapi.json", { headers: { accept: "application/json" } });
  if (!response.ok) throw new Error(`${response.status}`);
  const { info, tags = [], paths, webhooks = {}, components = {} } = (await response.json()) as Document;
  const operations = [...all(paths), ...all(webhooks, SENT)];
  const described = new Map(tags.map(({ name, description = "" }) => [name, description]));
  const names = [...new Set([...described.keys(), ...operations.map(({ tag }) => tag)])];
  const group = (tag: string): Group => ({
    tag,
    description: described.get(tag) ?? "",
    operations: operations.filter((one) => one.tag === tag),
  });
  return {
    version: info.version,
    intro: info.description ?? "",
    signing: components.securitySchemes?.bearer?.description ?? "",
    groups: names.map(group).filter((one) => one.operations.length > 0),
    operations: new Map(operations.map((one) => [one.id, one])),
    schemas: components.schemas ?? {},
  };
}

/** The name of a schema that is referred to. */
export const nameOf = ({ $ref }: Schema): string | undefined => $ref?.split("/").at(-1);

/** A schema without its reference. Its own description says what it is here, and wins. */
export function resolve(schema: Schema, { schemas }: Reference): Schema {
  const name = nameOf(schema);
  if (name === undefined) return schema;
  const found = schemas[name] ?? {};
  return schema.description === undefined ? found : { ...found, description: schema.description };
}

/** The parts of a schema that may be null, without the null. */
export const alternatives = (schema: Schema): readonly Schema[] =>
  (schema.oneOf ?? schema.anyOf ?? []).filter(({ type }) => type !== "null");

/** The members of an object, those of `allOf` included, each with whether it is required. */
export function members(schema: Schema, reference: Reference): readonly (readonly [name: string, schema: Schema, required: boolean])[] {
  const one = resolve(schema, reference);
  const own = Object.entries(one.properties ?? {}).map(([name, of]) => [name, of, one.required?.includes(name) === true] as const);
  const [only, ...others] = alternatives(one);
  const inner = only !== undefined && others.length === 0 ? members(only, reference) : [];
  return [...(one.allOf ?? []).flatMap((part) => members(part, reference)), ...inner, ...own];
}

/** The examples of a body, by name. */
export function examples({ example, examples: named = {} }: Content): readonly (readonly [name: string, value: unknown])[] {
  const all = Object.entries(named).map(([name, { summary, value }]) => [summary ?? name, value] as const);
  return example === undefined ? all : [["", example], ...all];
}
